import type { Mutant } from '../mutants.ts';

const gateway = 'packages/gateway/src';
const bearer = `${gateway}/credentials/obo/oboBearer.ts`;
const permission = `${gateway}/configure/requireOboPermission.ts`;
const targets = 'packages/settings/src/obo/oboTargetProblem.ts';
const trust = `${gateway}/access/oboTrust.ts`;

export const oboAttackers: readonly Mutant[] = [
  {
    id: 'obo.attacker.creator',
    file: permission,
    find: '  if (!hasObo(before) && !hasObo(after)) return;',
    replace: '  if (!hasObo(before)) return;',
  },
  {
    id: 'obo.attacker.creator',
    file: permission,
    find: "roles.permits(principal, 'CONFIGURE_OBO')",
    replace: "roles.permits(principal, 'CREATE')",
  },
  {
    id: 'obo.attacker.editor',
    file: permission,
    find: 'const locked = changedSecurity(before, after);',
    replace: "const locked = changedSecurity(before, after).filter((key) => key !== 'url');",
  },
  {
    id: 'obo.attacker.editor',
    file: permission,
    find: '  if (!hasObo(before) && !hasObo(after)) return;',
    replace: '  if (!hasObo(after)) return;',
  },
  {
    id: 'obo.attacker.redirect',
    file: 'packages/egress/src/guardedRequest.ts',
    find: 'if (next.origin !== from.origin) {',
    replace: 'if (next.hostname !== from.hostname) {',
  },
  {
    id: 'obo.attacker.redirect',
    file: `${gateway}/registry/couldSignIn.ts`,
    find: "settings.type === 'stdio' || usesObo(settings)",
    replace: "settings.type === 'stdio'",
  },
  {
    id: 'obo.attacker.scopes',
    file: targets,
    find: 'const guarded = isOperators ? null :',
    replace: "const guarded = isOperators || around.by === 'user' ? null :",
  },
  {
    id: 'obo.attacker.override',
    file: targets,
    find: 'const guarded = isOperators ? null :',
    replace: "const guarded = around.by !== 'user' ? null :",
  },
  {
    id: 'obo.attacker.targets',
    file: bearer,
    find: 'if (!now || targets.problemOf(now)) throw',
    replace: 'if (!now) throw',
  },
  {
    id: 'obo.attacker.targets',
    file: `${gateway}/configure/requireTarget.ts`,
    find: 'if (problem && problem.code !== NO_PROVIDER) throw',
    replace: "if (problem && problem.code === 'obo_scope') throw",
  },
  {
    id: 'obo.attacker.downgraded',
    file: trust,
    find: "    if (topic !== 'users') return;",
    replace: "    if (topic !== 'roles') return;",
  },
  {
    id: 'obo.attacker.downgraded',
    file: trust,
    find: 'editor?.tenant !== tenant || editor.disabledAt !== null',
    replace: 'editor?.tenant !== tenant',
  },
  {
    id: 'obo.attacker.stale-role',
    file: `${gateway}/access/oboTrustAuthor.ts`,
    find: 'return roleConfirmedAt + authorMaxAgeMs - now;',
    replace: 'return authorMaxAgeMs;',
  },
  {
    id: 'obo.attacker.interleaved',
    file: `${gateway}/credentials/obo/exchangeKey.ts`,
    find: 'JSON.stringify(fields)',
    replace: 'JSON.stringify(fields.slice(2, 12))',
  },
  {
    id: 'obo.attacker.smuggled',
    file: 'packages/contracts/src/rest/tools.ts',
    find: 'export const ToolCallRequest = z.strictObject({',
    replace: 'export const ToolCallRequest = z.object({',
  },
  {
    id: 'obo.attacker.forged',
    file: `${gateway}/identity/openid/verifySigned.ts`,
    find: "  if (!audiencesOf(payload).some(isMeant)) throw new TokenRefused('audience');\n",
    replace: '',
  },
  {
    id: 'obo.attacker.forged',
    file: `${gateway}/identity/openid/verifySigned.ts`,
    find: '    algorithms: ALGORITHMS,\n    issuer,\n',
    replace: '    algorithms: ALGORITHMS,\n',
  },
  {
    id: 'obo.attacker.tampered',
    file: `${gateway}/registry/storedServers.ts`,
    find: 'const intact = record.securedHash === securedHash(record.securedBy, definition);',
    replace: 'const intact = true;',
  },
  {
    id: 'obo.attacker.tampered',
    file: `${gateway}/ports/servers.ts`,
    find: 'binding: [securedBy]',
    replace: 'binding: []',
  },
  {
    id: 'obo.attacker.tampered',
    file: `${gateway}/ports/overrides.ts`,
    find: 'binding: [securedBy]',
    replace: 'binding: []',
  },
  {
    id: 'obo.table.required',
    file: trust,
    find: '    } catch {\n      return false;',
    replace: '    } catch {\n      return true;',
  },
  {
    id: 'obo.table.required',
    file: trust,
    find: '      if (!secured?.intact) return false;\n      const { by } = secured;',
    replace: '      const { by = null } = secured ?? {};\n      if (!secured) return true;',
  },
  {
    id: 'obo.table.override',
    file: `${gateway}/registry/override.ts`,
    find: '    else merged.set(key, mergeDefinition(merged.get(key), value));',
    replace: "    else if (key !== 'obo') merged.set(key, mergeDefinition(merged.get(key), value));",
  },
  {
    id: 'obo.table.grant',
    file: `${gateway}/registry/storedServers.ts`,
    find: 'secured: { securedBy: by, securedAt: now, securedHash: securedHash(by, definition) },',
    replace: 'secured: { securedAt: now, securedHash: securedHash(known?.secured.by ?? by, definition) },',
  },
  {
    id: 'obo.table.grant',
    file: `${gateway}/registry/storedServers.ts`,
    find: 'if (known && changedSecurity(known.definition, definition).length === 0) {',
    replace: 'if (known && by === known.secured.by) {',
  },
  {
    id: 'obo.table.same',
    file: `${gateway}/registry/canonical.ts`,
    find: "typeof value === 'string' ? scopeList(value) : value;",
    replace: 'value;',
  },
  {
    id: 'obo.table.no-flow',
    file: `${gateway}/registry/couldSignIn.ts`,
    find: "settings.type === 'stdio' || usesObo(settings)",
    replace: "settings.type === 'stdio'",
  },
  {
    id: 'obo.table.absolute',
    file: `${gateway}/credentials/obo/keptToken.ts`,
    find: 'Math.min(LONGEST_SKEW_MS, token.lifetimeMs / 10)',
    replace: '0',
  },
  {
    id: 'obo.table.audited',
    file: `${gateway}/credentials/obo/recordExchange.ts`,
    find: '      scopes: scopeList(scopes),\n',
    replace: '',
  },
  {
    id: 'obo.table.no-provider',
    file: bearer,
    find: "return isLacking ? 'OBO_MISCONFIGURED' : 'MCP_OBO_FORBIDDEN';",
    replace: "return isLacking ? 'MCP_OBO_FORBIDDEN' : 'MCP_OBO_FORBIDDEN';",
  },
  {
    id: 'obo.secrets.told',
    file: `${gateway}/toolcall/maskPresented.ts`,
    find: '...(bearerOf(ready)?.shown() ?? [])',
    replace: '...[]',
  },
  {
    id: 'obo.secrets.stored',
    file: `${gateway}/credentials/obo/sharedTier.ts`,
    find: 'keyring.seal(JSON.stringify(kept), contextOf(key))',
    replace: 'JSON.stringify(kept)',
  },
];
