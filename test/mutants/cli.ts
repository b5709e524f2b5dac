import type { Mutant } from '../mutants.ts';

const at = 'packages/gateway/src/diagnose';

export const cli: readonly Mutant[] = [
  {
    id: 'diagnose.order.steps',
    file: `${at}/checklist.ts`,
    find: "steps.find(({ outcome }) => outcome === 'failed')",
    replace: "steps.findLast(({ outcome }) => outcome !== 'ok')",
  },
  {
    // The call is made although the address may not be called.
    id: 'diagnose.order.steps',
    file: `${at}/diagnose.ts`,
    find: 'missing ?? way.blocked ?? held.blocked',
    replace: 'missing ?? held.blocked',
  },
  {
    id: 'diagnose.deny.alike',
    file: `${at}/lookAtPolicy.ts`,
    find: "resolved !== undefined && grants(parts.manageBits(principal, resolved), 'VIEW')",
    replace: 'resolved !== undefined',
  },
  {
    id: 'diagnose.secrecy.addresses',
    file: `${at}/lookAtNetwork.ts`,
    find: "seesAddresses ? new URL(url).host : 'The address of the server'",
    replace: 'seesAddresses || url ? new URL(url).host : url',
  },
  {
    id: 'diagnose.secrecy.addresses',
    file: `${at}/lookAtPolicy.ts`,
    find: 'seesAddresses: isEditor',
    replace: 'seesAddresses: isEditor || true',
  },
  {
    id: 'diagnose.secrecy.words',
    file: `${at}/bareTarget.ts`,
    find: 'renderTarget(bare, values',
    replace: 'renderTarget(settings, values',
  },
  {
    id: 'diagnose.secrecy.words',
    file: `${at}/lookAtServer.ts`,
    find: "'It answers with a redirect that is not followed.'",
    replace: '`It answers with a redirect to ${detail.redirectedTo ?? ""}.`',
  },
  {
    id: 'diagnose.harmless.refusal',
    file: `${at}/lookAtConnection.ts`,
    find: 'withoutRecovery(prepared ?? (await prepare(parts, server, inbound, { explicit: true })))',
    replace: '(prepared ?? (await prepare(parts, server, inbound, { explicit: true })))',
  },
  {
    id: 'diagnose.others.nothing',
    file: `${at}/diagnose.ts`,
    find: 'blocked ?? (of.isOthers ? NOT_THEIRS : undefined)',
    replace: 'blocked ?? (of.isOthers ? undefined : undefined)',
  },
  {
    id: 'diagnose.others.nothing',
    file: `${at}/diagnose.ts`,
    find: 'inbound.isOthers ? withoutValues(given) : given',
    replace: 'inbound.isOthers && withoutValues(given) ? given : given',
  },
  {
    id: 'diagnose.others.admins',
    file: 'api/src/oauth/diagnoseUserRoute.ts',
    find: 'await audit.record({',
    replace: 'void ({',
  },
  {
    id: 'diagnose.others.admins',
    file: 'api/src/oauth/diagnoseUserRoute.ts',
    find: "access: 'admin',\n    scope: 'admin',",
    replace: "access: 'admin',\n    scope: 'mcp',",
  },
  {
    id: 'diagnose.bounds.time',
    file: `${at}/checklist.ts`,
    find: 'Math.min(STEP_MS, deadline - begun)',
    replace: 'STEP_MS',
  },
  {
    id: 'diagnose.bounds.time',
    file: `${at}/checklist.ts`,
    find: "return failed('INTERNAL', 'This could not be looked at.');",
    replace: "return failed('INTERNAL', String(error));",
  },
  {
    id: 'diagnose.credential.states',
    file: `${at}/lookAtCredential.ts`,
    find: "if (status === 'rejected' && !isOver)",
    replace: "if (status !== 'active' && !isOver)",
  },
  {
    id: 'diagnose.scopes.compared',
    file: `${at}/lookAtScopes.ts`,
    find: 'configured === undefined\n',
    replace: 'configured === null\n',
  },
  {
    id: 'diagnose.exchange.trust',
    file: `${at}/diagnose.ts`,
    find: "if (trust.outcome === 'failed') why ??= trust.message;",
    replace: '',
  },
  {
    id: 'diagnose.tools.counted',
    file: `${at}/lookAtConnection.ts`,
    find: "verdict === 'absent').length",
    replace: "verdict === 'ask').length",
  },
  {
    id: 'cli.secrecy.echo',
    file: 'packages/cli/src/parse.ts',
    find: "problems.push('there are more words than it takes')",
    replace: 'problems.push(positionals.join())',
  },
  {
    id: 'cli.secrecy.echo',
    file: 'packages/cli/src/input/readToken.ts',
    find: "throw usageError('Standard input is no JSON object.');",
    replace: 'throw usageError(`Standard input is no JSON object: ${given}`);',
  },
  {
    id: 'cli.secrecy.key',
    file: 'packages/cli/src/gateway/gateway.ts',
    find: "redirect: 'manual',",
    replace: "redirect: 'follow',",
  },
  {
    // A server's name that leads to another route.
    id: 'cli.secrecy.key',
    file: 'packages/cli/src/gateway/paths.ts',
    find: '`/api/mcp/${encodeURIComponent(server)}/${rest}`',
    replace: '`/api/mcp/${server}/${rest}`',
  },
  {
    id: 'cli.secrecy.unencrypted',
    file: 'packages/cli/src/gateway/gateway.ts',
    find: "if (!given.insecure && !isOn(io.env['BEHALF_INSECURE'])) throw unencrypted(base);",
    replace: '',
  },
  {
    // A name that begins like this machine's address.
    id: 'cli.secrecy.unencrypted',
    file: 'packages/cli/src/gateway/gateway.ts',
    find: '/^127(\\.\\d{1,3}){3}$/',
    replace: '/^127\\./',
  },
  {
    id: 'cli.output.harmless',
    file: 'packages/cli/src/output/clean.ts',
    find: "return text.replace(CONTROLS, '');",
    replace: 'return text;',
  },
  {
    id: 'cli.output.harmless',
    file: 'packages/cli/src/output/clean.ts',
    find: '(character) => `\\\\u${',
    replace: '(character) => `\\\\u0041${character}${',
  },
  {
    id: 'cli.call.missing',
    file: 'packages/cli/src/input/readArguments.ts',
    find: 'problems.push(...missing.map(',
    replace: 'problems.push(...missing.slice(0, 1).map(',
  },
  {
    id: 'cli.call.missing',
    file: 'packages/cli/src/input/readArguments.ts',
    find: 'Object.create(null) as Record<string, unknown>',
    replace: '{}',
  },
  {
    id: 'cli.doctor.forbidden',
    file: `${at}/lookAtPolicy.ts`,
    find: "checkAccess(parts, principal, resolved, 'MCP_SERVER_NOT_FOUND')",
    replace:
      "checkAccess(parts, principal, resolved, resolved ? 'MCP_ACL_FORBIDDEN' : 'MCP_SERVER_NOT_FOUND')",
  },
  {
    id: 'cli.login.landed',
    file: 'packages/cli/src/commands/login.ts',
    find: "ending: isThere && isProven ? 'ok' : 'failed'",
    replace: "ending: isThere ? 'ok' : 'failed'",
  },
  {
    id: 'cli.login.landed',
    file: 'packages/cli/src/commands/login.ts',
    find: "ending: isThere && isProven ? 'ok' : 'failed'",
    replace: "ending: isProven ? 'ok' : 'failed'",
  },
  {
    id: 'cli.login.survives',
    file: 'packages/gateway/src/credentials/oauth/flows/finishFlow.ts',
    find: 'if (parameters.error !== null) return errorOf(parameters.error);',
    replace:
      "if (parameters.error !== null) {\n    const own = { tenant: flow.tenant, principal: credentialHolder(principal), serverId: flow.serverId };\n    await parts.vault.disconnect({ ...own, kind: 'oauth_code', label: payload.label });\n    return errorOf(parameters.error);\n  }",
  },
  {
    id: 'cli.login.stopped',
    file: 'packages/cli/src/commands/login.ts',
    find: 'if (isOurs) await cancel(context, server);',
    replace: '',
  },
  {
    id: 'cli.logout.truth',
    file: 'packages/cli/src/commands/mcpLogout.ts',
    find: "ending: view.revoked === 'failed' ? 'failed' : 'ok'",
    replace: "ending: 'ok'",
  },
  {
    id: 'cli.token.stdin',
    file: 'packages/cli/src/input/readToken.ts',
    find: 'const value = fields[ours] ?? fields[theirs];',
    replace: 'const value = fields[ours];',
  },
  {
    // Who was told that there is none goes on believing it.
    id: 'cli.token.imported',
    file: 'packages/gateway/src/credentials/chosenCredential.ts',
    find: "if (topic !== 'credentials') return;",
    replace: "if (topic === 'credentials') return;",
  },
  {
    id: 'cli.token.imported',
    file: 'packages/gateway/src/credentials/chosenCredential.ts',
    find: "kind === 'oauth_code' || kind === 'static'",
    replace: "kind === 'oauth_code'",
  },
  {
    id: 'cli.secrecy.tokens',
    file: 'packages/cli/src/commands/tokenImport.ts',
    find: 'json: { credential: shownCredential(stored), probe: stored.probe },',
    replace: 'json: { credential: shownCredential(stored), body },',
  },
];
