import type { Mutant } from '../mutants.ts';

const gateway = 'packages/gateway/src';
const findEditable = `${gateway}/configure/findEditable.ts`;
const managed = `${gateway}/access/managedServer.ts`;

export const secrecy: readonly Mutant[] = [
  {
    id: 'replicas.role',
    file: `${gateway}/access/userAdmin.ts`,
    find: "          await changes.publish({ topic: 'users', id });\n",
    replace: '',
  },
  {
    id: 'replicas.role',
    file: `${gateway}/access/roleAdmin.ts`,
    find: "    await changes.publish({ topic: 'roles', id: roleId(tenant, name) });\n",
    replace: '',
  },
  {
    id: 'replicas.server',
    file: `${gateway}/registry/storedServers.ts`,
    find: "changes.publish({ topic: 'servers', id })",
    replace: 'Promise.resolve(id)',
  },
  {
    id: 'replicas.server',
    file: `${gateway}/configure/overrides.ts`,
    find: '      await tell(tenant, name);\n      return open(record);',
    replace: '      return open(record);',
  },
  {
    id: 'replicas.sign-out',
    file: `${gateway}/identity/sessions.ts`,
    find: 'if (session.grant === null) await tellSignedOut(userId);\n    else',
    replace: '',
  },
  {
    id: 'replicas.sign-out',
    file: `${gateway}/identity/apiKeys.ts`,
    find: "      await changes.publish({ topic: 'keys', id: removed.hash });\n",
    replace: '',
  },
  {
    id: 'replicas.acl',
    file: `${gateway}/access/acl.ts`,
    find: "    await changes.publish({ topic: 'acl', id });\n",
    replace: '',
  },
  {
    id: 'replicas.redis-gone',
    file: 'packages/stores/src/open/mergedChanges.ts',
    find: '      await lasting.publish(notice);\n',
    replace: '',
  },
  {
    id: 'replicas.redis-gone',
    file: 'api/src/composeAccess.ts',
    find: 'credentials, leases } = primary;\n  const { changes, attempts }',
    replace: 'credentials } = primary;\n  const { changes, attempts, leases }',
  },
  {
    id: 'replicas.redis-gone',
    file: 'api/src/composeServers.ts',
    find: '    leases: primary.leases,\n',
    replace: '    leases,\n',
  },
  {
    id: 'secrets.nowhere',
    file: `${gateway}/toolcall/rpcResult.ts`,
    find: 'maskPresented(rpc.message, ready)',
    replace: '(ready, rpc.message)',
  },
  {
    id: 'secrets.nowhere',
    file: `${gateway}/toolcall/toGatewayError.ts`,
    find: 'const detail = explanations',
    replace: 'const detail = error.detail.rpc?.message ?? explanations',
  },
  {
    id: 'secrets.nowhere',
    file: `${gateway}/configure/serverView.ts`,
    find: '        source: apiKey.source,\n',
    replace: '        ...apiKey,\n',
  },
  {
    id: 'secrets.nowhere',
    file: `${gateway}/configure/overrideSecrets.ts`,
    find: 'if (shown.has(key) || value === null) return value;',
    replace: 'if (shown.has(key) || value !== undefined) return value;',
  },
  {
    id: 'secrets.nowhere',
    file: `${gateway}/toolcall/recordAudit.ts`,
    find: 'asked.args && Object.keys(asked.args)',
    replace: 'asked.args && Object.entries(asked.args).map(String)',
  },
  {
    id: 'secrets.nowhere',
    file: `${gateway}/credentials/vault/openTokens.ts`,
    find: 'keyring.seal(JSON.stringify(payload), credentialContext(record))',
    replace: 'JSON.stringify([payload, keyring.seal.length, credentialContext(record)])',
  },
  {
    id: 'secrets.nowhere',
    file: `${gateway}/identity/apiKeys.ts`,
    find: 'hint: key.slice(-4),',
    replace: 'hint: key.slice(0),',
  },
  {
    id: 'secrets.nowhere',
    file: 'api/src/rest/mcp/observing.ts',
    find: '          code: outcome,\n',
    replace: '          code: outcome,\n          error,\n',
  },
  {
    id: 'strangers.isolated',
    file: findEditable,
    find: '  if (!acl.sees(principal, server) && bits === 0) throw notFound();\n  if (!grants(bits, bit)) throw',
    replace: '  if (bits < 0) throw',
  },
  {
    id: 'strangers.isolated',
    file: `${gateway}/configure/viewServer.ts`,
    find: "  if (!acl.sees(principal, server) && !grants(bits, 'VIEW')) return null;\n",
    replace: '',
  },
  {
    id: 'strangers.isolated',
    file: `${gateway}/toolcall/checkAccess.ts`,
    find: '!server || !sees(principal, server)',
    replace: '!server || !sees',
  },
  {
    id: 'strangers.alike',
    file: findEditable,
    find: '  if (!acl.sees(principal, server) && bits === 0) throw notFound();\n',
    replace: '',
  },
  {
    id: 'strangers.alike',
    file: managed,
    find: "throw new GatewayError('MCP_SERVER_NOT_FOUND');",
    replace: "throw new GatewayError(server ? 'MCP_ACL_FORBIDDEN' : 'MCP_SERVER_NOT_FOUND');",
  },
  {
    id: 'strangers.alike',
    file: managed,
    find: "!server || !grants(bits, 'VIEW')",
    replace: '!server',
  },
  {
    id: 'strangers.alike',
    file: `${gateway}/toolcall/checkAccess.ts`,
    find: 'throw new GatewayError(denial);',
    replace: "throw new GatewayError(server ? 'FORBIDDEN' : denial);",
  },
  {
    id: 'strangers.obo-locked',
    file: `${gateway}/configure/requireOboPermission.ts`,
    find: 'if (!hasObo(before) && !hasObo(after)) return;',
    replace: 'if (!hasObo(after)) return;',
  },
  {
    id: 'strangers.obo-locked',
    file: `${gateway}/registry/canonical.ts`,
    find: "new Set(['title', 'description', 'iconPath'])",
    replace: "new Set(['title', 'description', 'iconPath', 'headers'])",
  },
  {
    id: 'strangers.obo-locked',
    file: `${gateway}/configure/requireOboPermission.ts`,
    find: "principal, 'CONFIGURE_OBO')",
    replace: "principal, 'CREATE')",
  },
  {
    id: 'secrets.oauth',
    file: `${gateway}/toolcall/callUpstream.ts`,
    find: 'return maskTokens(answerWithoutOurMeta(told), ready);',
    replace: 'return answerWithoutOurMeta(told);',
  },
  {
    // What a server names as a scope is asked for, whatever it is.
    id: 'secrets.oauth',
    file: `${gateway}/credentials/oauthTokens.ts`,
    find: '.filter((scope) => !isShown(scope))',
    replace: '',
  },
];
