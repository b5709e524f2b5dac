import type { Mutant } from '../mutants.ts';

const gateway = 'packages/gateway/src';
const tokens = `${gateway}/credentials/oauthTokens.ts`;
const recover = `${gateway}/toolcall/recoverFromRefusal.ts`;
const scope = `${gateway}/registry/scope.ts`;
const asking = `${gateway}/upstream/http/askOnSession.ts`;
const oauth = `${gateway}/credentials/oauth`;

export const recovery: readonly Mutant[] = [
  {
    id: 'recovery.c01.retry',
    file: tokens,
    find: 'const outcome = await vault.recover(key, refused);',
    replace: 'const outcome = await vault.token(key);',
  },
  {
    id: 'recovery.c01.session',
    file: `${gateway}/connections/leaseOf.ts`,
    find: "return reason === 'ended' || reason === 'session_lost';",
    replace: "return reason === 'ended' || reason === 'session_lost' || reason === 'unauthorized';",
  },
  {
    id: 'recovery.c01.session',
    file: asking,
    find: 'if (!isLost(error)) throw error;',
    replace: 'throw error;',
  },
  {
    id: 'recovery.r04.compared',
    file: `${gateway}/credentials/vault/judge.ts`,
    find: 'const isUsable = !isRefused && now < held.usableUntil;',
    replace: 'const isUsable = refused === undefined && now < held.usableUntil;',
  },
  {
    id: 'recovery.c02.audience',
    file: tokens,
    find: "if (outcome.kind === 'needs_reauth') heldOrThrow(outcome);",
    replace: '',
  },
  {
    id: 'recovery.c03.step-up',
    file: tokens,
    find: '[...new Set([...had, ...wanted])]',
    replace: '[...new Set([...wanted])]',
  },
  {
    id: 'recovery.c03.step-up',
    file: recover,
    find: "error.reason !== 'insufficient_scope'",
    replace: "error.reason !== 'unauthorized'",
  },
  {
    id: 'recovery.c04.capped',
    file: `${gateway}/credentials/oauth/flows/startFlow.ts`,
    find: 'const STEP_UPS = 2;',
    replace: 'const STEP_UPS = 20;',
  },
  {
    id: 'recovery.c04.forbidden',
    file: tokens,
    find: 'wanted.every((scope) => had.includes(scope) || asked.includes(scope))',
    replace: 'wanted.every((scope) => had.includes(scope) && asked.includes(scope))',
  },
  {
    id: 'recovery.c05.forbidden',
    file: recover,
    find: "error.reason === 'unauthorized' && bearerOf(ready) !== undefined",
    replace: "error.outcome === 'refused' && bearerOf(ready) !== undefined",
  },
  {
    id: 'recovery.c06.uncertain',
    file: recover,
    find: "return error.reason !== 'too_large' && tool !== undefined && vouchedFor(server, tool);",
    replace: 'return tool !== undefined && vouchedFor.length > 0 && server.name.length > 0;',
  },
  {
    id: 'recovery.c07.read-only',
    file: recover,
    find: 'return settings.trustAnnotations && harmless;',
    replace: 'return harmless;',
  },
  {
    id: 'recovery.c08.session',
    file: asking,
    find: 'if (!isLost(error)) throw error;',
    replace: 'throw error;',
  },
  {
    // The call is made twice on the new one.
    id: 'recovery.c08.session',
    file: asking,
    find: 'return await sendOn(next, question);',
    replace: 'await sendOn(next, question);\n      return await sendOn(next, question);',
  },
  {
    // What a tool says is taken for what the server says.
    id: 'recovery.c09.text',
    file: `${gateway}/upstream/http/readAnswer.ts`,
    find: '  return { result, json };',
    replace:
      "  if (/\\b401\\b/.test(JSON.stringify(result))) throw new UpstreamError('unauthorized', { status: 401 });\n  return { result, json };",
  },
  {
    id: 'recovery.c10.everything',
    file: `${gateway}/toolcall/loadTools.ts`,
    find: 'if (isRefusedToken(error, ready))\n      return afterRefusal(error, ready, inbound.signal, { again, anew: obtain });',
    replace: '',
  },
  {
    // One patience for all who have a credential of their own there.
    id: 'recovery.c11.breaker',
    file: `${gateway}/connections/gate.ts`,
    find: 'return { key: JSON.stringify([key, principal]), server: key, principal, binding };',
    replace: 'return { key, server: key };',
  },
  {
    id: 'recovery.c12.background',
    file: 'api/src/composeVault.ts',
    find: "else if (event.kind === 'sign_in_needed') contexts.audit?.note(signInNeededEvent(event));",
    replace: '',
  },
  {
    id: 'recovery.c13.own',
    file: 'packages/contracts/src/errors/codes.ts',
    find: "status: 424,\n    title: 'You need to sign in at this server first',",
    replace: "status: 401,\n    title: 'You need to sign in at this server first',",
  },
  {
    id: 'recovery.c14.shutdown',
    file: 'api/src/serve.ts',
    find: '      server.closeAllConnections();\n',
    replace: '',
  },
  {
    id: 'recovery.c15.absent',
    file: tokens,
    find: "throw new SignInRequired('absent');",
    replace: 'return null;',
  },
  {
    id: 'recovery.c16.snapshot',
    file: tokens,
    find: 'return held ? present(held) : vault.token(key)',
    replace: 'return held ? first.accessToken : vault.token(key)',
  },
  {
    // How clients prove themselves there is not looked at.
    id: 'flow.peers.v1',
    file: `${oauth}/registration/requestRegistration.ts`,
    find: 'wished.find((method) => offered?.includes(method))',
    replace: 'wished.find(() => offered !== undefined)',
  },
  {
    id: 'flow.peers.first',
    file: `${oauth}/discovery/discovery.ts`,
    find: 'if (target.isOperators && target.oauth.plain.legacyAuthDiscovery) return legacyServer(target);',
    replace: 'if (target.isOperators) return legacyServer(target);',
  },
  {
    id: 'flow.peers.first',
    file: `${oauth}/discovery/discovery.ts`,
    find: 'if (target.isOperators && target.oauth.plain.legacyAuthDiscovery) return legacyServer(target);',
    replace: '',
  },
  {
    id: 'grants.auth.optional',
    file: `${gateway}/credentials/chosenCredential.ts`,
    find: ' ?? own.find(({ isDefault }) => isDefault) ?? own[0];',
    replace: ';',
  },
  {
    id: 'grants.auth.required',
    file: tokens,
    find: "return auth !== 'oauth' || settings.auth === 'optional';",
    replace: "return auth !== 'oauth' || settings.auth !== undefined;",
  },
  {
    id: 'grants.auth.detected',
    file: `${gateway}/registry/asksForSignIn.ts`,
    find: "return error.detail.challenge?.scheme === 'bearer' && couldSignIn(server);",
    replace: "return error.detail.challenge?.scheme === 'basic' && couldSignIn(server);",
  },
  {
    id: 'grants.labels.default',
    file: `${gateway}/credentials/chosenCredential.ts`,
    find: 'const chosen = living.find(({ isDefault }) => isDefault);',
    replace: 'const [chosen] = living;',
  },
  {
    id: 'grants.sign-in.used',
    file: `${gateway}/credentials/oauth/storeGrant.ts`,
    find: '    await vault.makeDefault(committed.id);\n',
    replace: '',
  },
  {
    id: 'grants.sign-in.used',
    file: `${gateway}/credentials/oauth/storeGrant.ts`,
    find: ': !isSignIn && !isAlive(before, now);',
    replace: ': true;',
  },
  {
    id: 'grants.sign-in.used',
    file: `${gateway}/credentials/oauth/storeGrant.ts`,
    find: "if (kind === 'oauth_code' && all.some",
    replace: "if (kind === 'static' && all.some",
  },
  {
    id: 'grants.sign-in.used',
    file: `${gateway}/credentials/oauth/flows/startFlow.ts`,
    find: "used?.kind === 'oauth_code' && used.status !== 'revoked' ? used.label : DEFAULT_LABEL",
    replace: "used?.kind === 'oauth_code' ? DEFAULT_LABEL : DEFAULT_LABEL",
  },
  {
    id: 'grants.sign-in.used',
    file: `${gateway}/reinit/probeGrant.ts`,
    find: 'createPurse(), { own });',
    replace: 'createPurse(), own.grant === null ? { own } : {});',
  },
  {
    id: 'grants.exclusive.one',
    file: `${gateway}/credentials/credentials.ts`,
    find: '...(server.settings.exclusive && { exclusive: own.key }),',
    replace: '',
  },
  {
    // Everybody waits for everybody.
    id: 'grants.exclusive.one',
    file: `${gateway}/credentials/credentials.ts`,
    find: '...(server.settings.exclusive && { exclusive: own.key }),',
    replace: "...(server.settings.exclusive && { exclusive: { ...own.key, principal: 'user:' } }),",
  },
  {
    id: 'grants.exclusive.bounded',
    file: `${gateway}/credentials/vault/exclusive.ts`,
    find: 'within(localClock, timings.waitMs, before,',
    replace: 'within(localClock, 100 * timings.waitMs, before,',
  },
  {
    // The mark takes away what still lives.
    id: 'grants.reauth.campaign',
    file: `${gateway}/credentials/vault/requireSignIn.ts`,
    find: "const mark = { status: 'rejected', reason,",
    replace: "const mark = { status: 'revoked', reason,",
  },
  {
    // Nobody is made to sign in.
    id: 'grants.reauth.campaign',
    file: `${gateway}/credentials/vault/requireSignIn.ts`,
    find: "const mark = { status: 'rejected', reason,",
    replace: "const mark = { status: 'active', reason,",
  },
  {
    id: 'grants.server.removed',
    file: 'api/src/composeOAuth.ts',
    find: ' ?? parts.retiring.get(tenant, id)',
    replace: '',
  },
  {
    id: 'grants.server.removed',
    file: `${gateway}/credentials/oauth/serverGrants.ts`,
    find: '    await flows.removeOfServer(tenant, serverId);\n',
    replace: '    void flows;\n',
  },
  {
    id: 'grants.server.removed',
    file: `${gateway}/credentials/vault/disconnect.ts`,
    find: "      if (key.kind !== 'login') await knowing;\n",
    replace: '',
  },
  {
    id: 'grants.server.uninstalled',
    file: 'api/src/rest/mcp/userVariables.ts',
    find: 'const { disconnected } = await endConnections(parts, server, caller);',
    replace: 'const disconnected = endConnections === undefined;',
  },
  {
    id: 'grants.server.uninstalled',
    file: 'api/src/rest/mcp/userVariables.ts',
    find: "!by.scopes.includes('servers')",
    replace: "!by.scopes.includes('mcp')",
  },
  {
    id: 'grants.app.shared',
    file: scope,
    find: 'if (usesOwnGrant(settings)) return false;',
    replace: '',
  },
  {
    id: 'grants.app.refused',
    file: recover,
    find: "if (!('holder' in ready)) return ready.bearer;",
    replace: "if (!('holder' in ready)) return undefined;",
  },
];
