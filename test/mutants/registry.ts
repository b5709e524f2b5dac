import type { Mutant } from '../mutants.ts';

const scope = 'packages/gateway/src/registry/scope.ts';
const target = 'packages/gateway/src/registry/renderTarget.ts';
const tier = 'packages/gateway/src/registry/storedDefinition.ts';
const layers = 'packages/gateway/src/registry/registry.ts';
const snapshot = 'packages/gateway/src/registry/snapshot.ts';
const offer = 'packages/gateway/src/registry/whyNotOffered.ts';
const storedServers = 'packages/gateway/src/registry/storedServers.ts';
const inspection = 'packages/gateway/src/registry/inspection.ts';
const credentials = 'packages/gateway/src/credentials/credentials.ts';
const cache = 'packages/gateway/src/credentials/variableCache.ts';
const variables = 'packages/gateway/src/credentials/userVariables.ts';
const ports = 'packages/gateway/src/ports/variables.ts';

export const registry: readonly Mutant[] = [
  { id: 'registry.scope.user', file: scope, find: "source !== 'user' &&", replace: '' },
  { id: 'registry.scope.user', file: scope, find: 'settings.startup &&', replace: '' },
  { id: 'registry.scope.user', file: scope, find: '!needsOAuth(settings) &&', replace: '' },
  {
    id: 'registry.scope.user',
    file: scope,
    find: 'requiresOAuth ?? (oauth !== undefined ||',
    replace: 'requiresOAuth ?? (oauth === null ||',
  },
  { id: 'registry.scope.user', file: scope, find: '!usesObo(settings) &&', replace: '' },
  {
    id: 'registry.scope.user',
    file: scope,
    find: 'declaredVariables(settings).length === 0 &&',
    replace: '',
  },
  { id: 'registry.scope.user', file: scope, find: 'placeholders.length === 0;', replace: 'true;' },
  {
    id: 'registry.scope.request',
    file: scope,
    find: "placeholders.some(({ kind }) => kind === 'body')",
    replace: 'false',
  },
  {
    id: 'registry.target.arguments',
    file: target,
    find: "if (!isOwnText && text.startsWith('-')) refuse(field, 'arg_value', template);",
    replace: '',
  },
  {
    id: 'registry.target.arguments',
    file: target,
    find: "if (text.includes('\\u0000')) refuse(field, 'nul_value', template);",
    replace: '',
  },
  {
    id: 'registry.target.header-values',
    file: target,
    find: 'if (hasControlCharacter(text) ||',
    replace: 'if (',
  },
  {
    id: 'registry.target.header-values',
    file: target,
    find: "if (hasControlCharacter(pair)) refuse(field, 'header_value', template);",
    replace: '',
  },
  {
    id: 'registry.target.environment',
    file: target,
    find: 'INHERITED.flatMap(',
    replace: 'Object.keys(inheritedEnv).flatMap(',
  },
  { id: 'registry.target.environment', file: layers, find: 'isBuiltIn ? {} : env', replace: 'env' },
  { id: 'registry.stored.trust-tier', file: tier, find: '!inputKeys.has(key) ||', replace: '' },
  {
    id: 'registry.stored.trust-tier',
    file: tier,
    find: "text.includes('?')",
    replace: "text.includes('?resource=')",
  },
  {
    id: 'registry.stored.trust-tier',
    file: tier,
    find: 'errors.push(...textProblems(item, at));',
    replace: '{}',
  },
  {
    id: 'registry.stored.trust-tier',
    file: tier,
    find: "kind !== 'literal' && kind !== 'userVar'",
    replace: "kind === 'env'",
  },
  {
    id: 'registry.stored.trust-tier',
    file: tier,
    find: 'if (reserved && isMapping(item))',
    replace: 'if (reserved && !isMapping(item))',
  },
  {
    id: 'registry.stored.checked',
    file: storedServers,
    find: '  if (compiled.ok) return;\n',
    replace: '  if (compiled.ok || name !== compiled.errors.join()) return;\n',
  },
  {
    id: 'registry.stored.change',
    file: storedServers,
    find: '      if (!(await servers.find(tenant, id))) return false;\n',
    replace: '',
  },
  {
    id: 'registry.stored.sealed',
    file: 'packages/gateway/src/ports/servers.ts',
    find: "server: id, kind: 'server'",
    replace: "server: '-', kind: 'server'",
  },
  {
    id: 'registry.stored.follow',
    file: 'packages/gateway/src/following/follow.ts',
    find: '      set(nothing);\n',
    replace: '',
  },
  {
    id: 'registry.stored.secured',
    file: storedServers,
    find: 'changedSecurity(known.definition, definition).length === 0',
    replace: 'by !== known.id',
  },
  {
    id: 'registry.stored.secured',
    file: storedServers,
    find: 'record.securedHash === securedHash(record.securedBy, definition)',
    replace: 'record.securedHash !== ""',
  },
  {
    id: 'registry.stored.secured',
    file: 'packages/gateway/src/registry/secured.ts',
    find: 'stableText([by, maskSecrets(securityFields(definition))])',
    replace: 'stableText([maskSecrets(securityFields(definition))])',
  },
  {
    id: 'registry.stored.values-stay-put',
    file: 'packages/gateway/src/registry/valuePlaces.ts',
    find: 'Object.values(fieldsOf(oauth)).some(holdsValue) ? oauth : null',
    replace: 'null',
  },
  {
    id: 'registry.override.fail-closed',
    file: layers,
    find: "      settings && overrides !== 'unknown'\n        ? compileLayers({ ...layers, settings, overrides: overrides ?? [] }, parts, tell)",
    replace:
      '      settings\n        ? compileLayers({ ...layers, settings, overrides: Array.isArray(overrides) ? overrides : [] }, parts, tell)',
  },
  {
    id: 'registry.layers.reserved',
    file: layers,
    find: 'server.normalizedName === normalized) ||',
    replace: 'server.name === name) ||',
  },
  {
    id: 'registry.layers.precedence',
    file: layers,
    find: '    if (reserved.has(normalizeServerName(name))) {\n',
    replace: '    if (reserved.has(name) && fileTypes.size < 0) {\n',
  },
  {
    id: 'registry.layers.tenants',
    file: layers,
    find: 'contents.tenants.get(tenant)?.get(name)',
    replace: '[...contents.tenants.values()][0]?.get(name)',
  },
  {
    id: 'registry.override.limits',
    file: layers,
    find: "if (server?.type === 'stdio') return",
    replace: "if (server?.type === 'websocket') return",
  },
  {
    id: 'registry.layers.administrator',
    file: layers,
    find: 'if (administered.has(tenantName(tenant, name))) {',
    replace: 'if (administered.has(name)) {',
  },
  {
    id: 'registry.layers.administrator',
    file: layers,
    find: 'return JSON.stringify([tenant, normalizeServerName(name)]);',
    replace: 'return JSON.stringify([tenant, name]);',
  },
  {
    id: 'registry.layers.administrator',
    file: layers,
    find: 'return JSON.stringify([tenant, normalizeServerName(name)]);',
    replace: 'return JSON.stringify([tenant.length < 0, normalizeServerName(name)]);',
  },
  {
    id: 'registry.override.failed',
    file: layers,
    find: 'base && server && parts.isFailed(server) ? base : server',
    replace: 'base && !parts.isFailed ? base : server',
  },
  {
    id: 'registry.override.fail-closed',
    file: layers,
    find: 'mayStepBack(override) ? base.get(name) : undefined',
    replace: 'base.get(name)',
  },
  {
    id: 'registry.override.fail-closed',
    file: layers,
    find: 'if (server || !behind) addOwn',
    replace: 'if (server) addOwn',
  },
  {
    id: 'registry.override.fail-closed',
    file: layers,
    find: '        else merged.delete(name);\n',
    replace: '',
  },
  {
    id: 'registry.override.fail-closed',
    file: 'packages/gateway/src/registry/override.ts',
    find: '.every((key) => harmless.has(key))',
    replace: '.some((key) => harmless.has(key))',
  },
  {
    id: 'registry.override.apart',
    file: snapshot,
    find: 'JSON.stringify([id, tenant, source, audience, scope, rest, target, policy])',
    replace: 'JSON.stringify([id, scope, rest, target, policy])',
  },
  {
    id: 'registry.snapshot.revision',
    file: snapshot,
    find: 'JSON.stringify([id, tenant, source, audience, scope, rest, target, policy])',
    replace: 'JSON.stringify([id, tenant, source, audience, scope, target, policy])',
  },
  {
    id: 'registry.snapshot.policy',
    file: snapshot,
    find: "type === 'websocket' || type === 'sse'",
    replace: "type === 'websocket'",
  },
  {
    id: 'registry.snapshot.policy',
    file: layers,
    find: 'JSON.stringify([allowedDomains, allowedAddresses, operatorAddresses])',
    replace: 'JSON.stringify([allowedDomains, allowedAddresses])',
  },
  {
    id: 'registry.offer.fail-closed',
    file: offer,
    find: 'asked[name] && !enforced.has(name)',
    replace: "asked[name] && name === 'tools'",
  },
  {
    id: 'registry.offer.fail-closed',
    file: offer,
    find: "sharing: source === 'user',",
    replace: 'sharing: false,',
  },
  {
    id: 'registry.tools.filter',
    file: 'packages/gateway/src/registry/toolAllowed.ts',
    find: 'if (tools.exclude?.some((glob) => matchesGlob(glob, name))) return false;',
    replace: '',
  },
  {
    id: 'registry.inspection.bounded',
    file: inspection,
    find: 'if (running >= AT_ONCE) await',
    replace: 'if (running >= 1_000) await',
  },
  {
    id: 'registry.inspection.isolated',
    file: inspection,
    find: 'return await orAborted(work(signal), signal);',
    replace: 'return await work(signal);',
  },
  {
    id: 'registry.inspection.skips',
    file: inspection,
    find: "if (server.scope !== 'app') continue;",
    replace: "if (server.scope === 'app') continue;",
  },
  {
    id: 'registry.inspection.update',
    file: inspection,
    find: 'if (!next.has(key)) forget(entry);',
    replace: 'if (!next.has(key)) entry.retry?.cancel();',
  },
  {
    id: 'registry.inspection.reinspect',
    file: inspection,
    find: "if (entry?.state.kind !== 'failed') {",
    replace: 'if (!entry) {',
  },
  {
    id: 'registry.inspection.explicit',
    file: 'packages/gateway/src/toolcall/inspectServer.ts',
    find: '{ signal, explicit });',
    replace: '{ signal });',
  },
  {
    id: 'registry.inspection.explicit',
    file: inspection,
    find: '    if (entry.running?.explicit === false) await entry.running.done;\n',
    replace: '',
  },
  {
    id: 'registry.inspection.undisturbed',
    file: inspection,
    find: 'entry.retry ??= scheduleRetry(entry, now);',
    replace: 'entry.retry?.cancel();\n    entry.retry = scheduleRetry(entry, now);',
  },
  {
    id: 'registry.inspection.undisturbed',
    file: inspection,
    find: '      entry.retry = null;\n      void look(entry, false);',
    replace: '      void look(entry, false);',
  },
  {
    id: 'credentials.obtain.audience',
    file: snapshot,
    find: "source === 'user' || isElsewhere ? 'user-server' : 'yaml-server'",
    replace: "'yaml-server'",
  },
  {
    id: 'credentials.obtain.binding',
    file: credentials,
    find: 'const key = server.revision + principalKey(principal);',
    replace: 'const key = server.revision + principal.userId;',
  },
  {
    id: 'credentials.obtain.warm',
    file: credentials,
    find: 'a.name === b.name && a.email === b.email && a.role === b.role',
    replace: 'a.name === b.name && a.email === b.email',
  },
  {
    id: 'credentials.obtain.binding',
    file: credentials,
    find: 'JSON.stringify([principalKey(of.principal), of.server.revision, target])',
    replace: 'JSON.stringify([of.server.revision, target])',
  },
  {
    id: 'credentials.variables.declared-only',
    file: credentials,
    find: 'return Object.fromEntries(values);\n',
    replace: 'return known;\n',
  },
  {
    id: 'credentials.variables.missing',
    file: credentials,
    find: 'value === undefined || isBlank(value) ? []',
    replace: 'value === undefined ? []',
  },
  {
    id: 'credentials.variables.undeclared',
    file: variables,
    find: 'if (!declared.includes(name)) {',
    replace: 'if (declared.length === 0) {',
  },
  {
    id: 'credentials.variables.sealed',
    file: ports,
    find: 'principal: `user:${userId}`',
    replace: "principal: '-'",
  },
  { id: 'credentials.variables.sealed', file: ports, find: 'server: serverId,', replace: "server: '-'," },
  { id: 'credentials.variables.sealed', file: ports, find: 'field: name }', replace: "field: '-' }" },
  {
    id: 'credentials.variables.fresh',
    file: cache,
    find: 'if (begun === notices) known.set',
    replace: 'known.set',
  },
  {
    id: 'credentials.variables.fresh',
    file: 'packages/gateway/src/ports/changes.ts',
    find: '< STALENESS_MS',
    replace: '< 10 * STALENESS_MS',
  },
  {
    id: 'credentials.variables.fresh',
    file: 'packages/gateway/src/ports/changes.ts',
    find: '&& now - readAt < LONGEST_MS',
    replace: '',
  },
  {
    id: 'credentials.variables.outage',
    file: cache,
    find: 'before?.wiped === wiped &&',
    replace: 'before &&',
  },
  {
    id: 'registry.stored.secured',
    file: 'packages/gateway/src/ports/servers.ts',
    find: 'binding: [securedBy]',
    replace: 'binding: [securedBy.slice(0, 0)]',
  },
];
