import type { Mutant } from '../mutants.ts';

const folder = 'packages/gateway/src/configure';
const change = `${folder}/judgeChange.ts`;
const view = `${folder}/serverView.ts`;
const override = `${folder}/overrideServer.ts`;
const bound = 'packages/gateway/src/registry/secretBindings.ts';
const overrideTier = 'packages/gateway/src/registry/override.ts';

export const overrides: readonly Mutant[] = [
  {
    id: 'configure.override.admin',
    file: override,
    find: '    requireAdmin(principal);\n    requireFlat(config);\n',
    replace: '    requireFlat(config);\n',
  },
  {
    id: 'configure.override.checked',
    file: override,
    find: 'const settings = requireCompiled(tried);',
    replace:
      "const settings = (tried.compiled.ok ? tried.compiled.server : { type: 'stdio' }) as ServerSettings;",
  },
  {
    id: 'configure.override.secrets',
    file: override,
    find: '    requireSameBinding(kept, was, next);\n',
    replace: '',
  },
  {
    id: 'configure.override.secrets',
    file: `${folder}/overrideSecrets.ts`,
    find: 'if (secret === undefined) return masked(value);',
    replace: "if (secret === undefined) return key === 'headers' ? masked(value) : value;",
  },
  {
    id: 'configure.override.fail-closed',
    file: `${folder}/overrides.ts`,
    find: "nothing: 'unknown',",
    replace: 'nothing: [],',
  },
  {
    id: 'configure.override.fail-closed',
    file: `${folder}/overrides.ts`,
    find: 'let definition: unknown = null;',
    replace: 'let definition: unknown = {};',
  },
  {
    id: 'configure.override.version',
    file: override,
    find: '    requireVersion(ifMatch, before);\n    await requireName',
    replace: '    await requireName',
  },
  {
    id: 'configure.override.base-secrets',
    file: override,
    find: '    requireSameBinding(keptOfBase(tried.base, definition), tried.base, next);\n',
    replace: '',
  },
  {
    id: 'configure.override.base-secrets',
    file: overrideTier,
    find: '[...ownProblems(definition, path), ...leaks(base, definition, merged, path)]',
    replace: 'leaks ? ownProblems(definition, path) : []',
  },
  {
    id: 'configure.override.base-secrets',
    file: bound,
    find: "const place = ['type', 'url', 'proxy', 'caFile'];",
    replace: "const place = ['type', 'url'];",
  },
  {
    id: 'configure.override.base-secrets',
    file: bound,
    find: 'said && Object.hasOwn(said, key) ? said[key] : undefined',
    replace: 'said?.[key]',
  },
  {
    id: 'configure.override.base-secrets',
    file: bound,
    find: "inner === 'private_key_file' || isFilledIn",
    replace: "inner === 'private_key_file'",
  },
  {
    id: 'configure.override.environment',
    file: overrideTier,
    find: '...variablesIn(value, [...path, key])];',
    replace: '...variablesIn(null, [...path, key])];',
  },
  {
    id: 'configure.override.environment',
    file: view,
    find: 'obo: oboOf(obo)',
    replace: "obo: oboOf('obo' in settings ? settings.obo : obo)",
  },
  {
    id: 'configure.override.address',
    file: overrideTier,
    find: 'if (operatorKeys.includes(key) && value !== null) {',
    replace: "if (operatorKeys.includes(key) && value === '') {",
  },
  {
    id: 'configure.override.address',
    file: overrideTier,
    find: "key === 'url' || operatorKeys.includes(key)",
    replace: 'operatorKeys.includes(key)',
  },
  {
    id: 'configure.override.address',
    file: 'packages/gateway/src/registry/snapshot.ts',
    find: 'JSON.stringify([id, tenant, source, audience, scope,',
    replace: 'JSON.stringify([id, tenant, source, typeof audience, scope,',
  },
  {
    id: 'configure.override.grants',
    file: 'packages/gateway/src/configure/overrideServer.ts',
    find: 'if (isOwn && server) await parts.grants.endAll(tenant, server);',
    replace: 'if (server) await parts.grants.endAll(tenant, server);',
  },
  {
    id: 'configure.override.grants',
    file: 'packages/gateway/src/configure/overrideServer.ts',
    find: '    if (isOwn && server) await parts.grants.endAll(tenant, server);\n',
    replace: '    void server;\n',
  },
  {
    id: 'configure.override.values',
    file: override,
    find: '  await forget();\n  const outcome',
    replace: '  const outcome',
  },
  {
    id: 'configure.override.values',
    file: override,
    find: '  await forget();\n  return outcome;',
    replace: '  return outcome;',
  },
  {
    id: 'configure.override.values',
    file: override,
    find: '    if (isOwn) await parts.acl.removeServer(tenant, name);\n',
    replace: '',
  },
  {
    id: 'configure.override.values',
    file: override,
    find: '    if (!before && tried.isOwn) await parts.acl.removeServer(tenant, name);\n',
    replace: '',
  },
  {
    id: 'configure.override.values',
    file: 'packages/gateway/src/registry/valuePlaces.ts',
    find: 'parseUrl(url)?.href ?? url',
    replace: 'new URL(url).origin',
  },
  {
    id: 'configure.override.obo',
    file: override,
    find: '  requireOboPermission(parts, caller, was, next);\n',
    replace: '',
  },
  {
    id: 'configure.override.obo',
    file: `${folder}/overrides.ts`,
    find: 'before && !isDecision ? before',
    replace: 'before ? before',
  },
  {
    id: 'configure.override.obo',
    file: 'packages/gateway/src/ports/overrides.ts',
    find: 'binding: [securedBy]',
    replace: 'binding: [securedBy.slice(0, 0)]',
  },
  {
    id: 'configure.override.obo',
    file: overrideTier,
    find: 'intact: securedBy !== undefined }',
    replace: 'intact: true }',
  },
  {
    id: 'configure.write.account',
    file: override,
    find: '  requireAdmin(caller);\n',
    replace: '',
  },
  {
    id: 'configure.write.account',
    file: `${folder}/currentCaller.ts`,
    find: ' || user.disabledAt !== null',
    replace: '',
  },
  {
    id: 'configure.write.account',
    file: `${folder}/currentCaller.ts`,
    find: '{ ...principal, role: user.role }',
    replace: '{ ...principal }',
  },
  {
    id: 'configure.write.account',
    file: change,
    find: "findEditable(parts, caller, name, 'EDIT')",
    replace: "findEditable(parts, principal, name, 'EDIT')",
  },
  {
    id: 'registry.override.limits',
    file: overrideTier,
    find: "if (!compiled.ok || compiled.server.type !== 'stdio') return compiled;",
    replace: "if (!compiled.ok || compiled.server.name !== '') return compiled;",
  },
];
