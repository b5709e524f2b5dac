import type { Mutant } from '../mutants.ts';

const policyFile = 'packages/gateway/src/policy/toolPolicy.ts';
const approvals = 'packages/gateway/src/policy/approvals.ts';
const lists = 'packages/gateway/src/policy/approvalLists.ts';
const hashes = 'packages/gateway/src/policy/callHash.ts';
const buckets = 'api/src/door/buckets.ts';
const limits = 'api/src/door/rateLimits.ts';

export const policy: readonly Mutant[] = [
  {
    id: 'policy.patterns.load',
    file: 'packages/contracts/src/config/toolPattern.ts',
    find: "if (/^mcp\\s*:/i.test(text)) return malformed('must begin",
    replace: "if (/^mcp\\s*:$/.test(text)) return malformed('must begin",
  },
  {
    id: 'policy.patterns.load',
    file: 'packages/settings/src/compile/checkToolApproval.ts',
    find: 'if ((approval.hooks ?? []).length > 0) {',
    replace: 'if ((approval.hooks ?? []).length > 9) {',
  },
  {
    id: 'policy.decide.lists',
    file: policyFile,
    find: 'if (own?.ask(server, name) || general.ask(server, name)) return true;',
    replace: 'if (own?.ask(server, name)) return true;',
  },
  {
    id: 'policy.decide.modes',
    file: policyFile,
    find: "return mode === 'dontAsk' ? 'absent' : 'ask';",
    replace: "return 'ask';",
  },
  {
    id: 'policy.decide.modes',
    file: policyFile,
    find: "return mode === 'default';",
    replace: 'return false;',
  },
  {
    id: 'policy.decide.roles',
    file: policyFile,
    find: 'if (own?.onlyAllowed && !own.allow(server, name))',
    replace: 'if (own?.onlyAllowed && !own.allow(server, name) && !own.ask(server, name))',
  },
  {
    id: 'policy.decide.roles',
    file: policyFile,
    find: "if (own?.readOnlyOnly && !readOnly) return 'absent';",
    replace: '',
  },
  {
    id: 'policy.decide.names',
    file: 'packages/contracts/src/config/toolPattern.ts',
    find: "const colon = rest.indexOf(':');",
    replace: "const colon = rest.lastIndexOf(':');",
  },
  {
    id: 'policy.decide.names',
    file: 'packages/gateway/src/policy/toolPatterns.ts',
    find: ' || matchesGlob(pattern.server, normalized)',
    replace: '',
  },
  {
    id: 'policy.decide.deny-wins',
    file: policyFile,
    find: 'if (general.deny(server, name) || own?.deny(server, name))',
    replace: 'if (enabled && (general.deny(server, name) || own?.deny(server, name)))',
  },
  {
    id: 'policy.decide.roles',
    file: 'packages/gateway/src/policy/verdicts.ts',
    find: 'return readOnly ? sides.readers : sides.others;',
    replace: 'return readOnly ? sides.others : sides.others;',
  },
  {
    id: 'policy.decide.programs',
    file: policyFile,
    find: "return verdict === 'ask' && kind === 'service' ? 'absent' : verdict;",
    replace: 'return kind ? verdict : verdict;',
  },
  {
    id: 'policy.decide.bounded',
    file: 'packages/gateway/src/policy/verdicts.ts',
    find: 'if (size >= most) {',
    replace: 'if (size >= most * 100) {',
  },
  {
    id: 'policy.offered.alike',
    file: 'packages/gateway/src/policy/toolOffered.ts',
    find: "if (!toolAllowed(server.settings, name, readOnly)) return 'absent';",
    replace: '',
  },
  {
    id: 'policy.offered.alike',
    file: 'packages/gateway/src/policy/toolOffered.ts',
    find: "annotations?.['readOnlyHint'] === true",
    replace: "Boolean(annotations?.['readOnlyHint'])",
  },
  {
    id: 'policy.approval.one-run',
    file: approvals,
    find: 'if (!(await cache.delete(granted(call.id)))) continue;',
    replace: 'await cache.delete(granted(call.id));',
  },
  {
    id: 'policy.approval.one-run',
    file: approvals,
    find: "if (!(await cache.delete(waiting(id)))) throw new GatewayError('MCP_APPROVAL_NOT_FOUND');",
    replace: 'await cache.delete(waiting(id));',
  },
  {
    id: 'policy.approval.exact',
    file: approvals,
    find: 'call.argsHash === argsHash',
    replace: 'call.argsHash !== undefined',
  },
  {
    id: 'policy.approval.exact',
    file: approvals,
    find: 'call.revision === server.revision &&',
    replace: '',
  },
  {
    id: 'policy.approval.changed-tool',
    file: hashes,
    find: '[name, title, description, inputSchema, annotations]',
    replace: '[name, title, inputSchema, annotations]',
  },
  {
    id: 'policy.approval.own-user',
    file: lists,
    find: "return JSON.stringify(['list', tenant, userId]);",
    replace: "return JSON.stringify(['list', tenant, userId.slice(0, 2)]);",
  },
  {
    id: 'policy.approval.person',
    file: approvals,
    find: "if (principal.by.via === 'api_key') throw",
    replace: "if (principal.by.via === 'bearer') throw",
  },
  {
    id: 'policy.approval.person',
    file: 'api/src/rest/mcp/approvals.ts',
    find: "scope: 'none',",
    replace: "scope: 'mcp',",
  },
  {
    id: 'policy.approval.expiry',
    file: lists,
    find: 'return calls.filter(({ expiresAt }) => expiresAt > clock.now());',
    replace: 'return calls;',
  },
  {
    id: 'policy.approval.same-id',
    file: approvals,
    find: 'if (twin) return calls;',
    replace: '',
  },
  {
    id: 'policy.approval.denied',
    file: approvals,
    find: 'await cache.delete(granted(id));\n    await forget(principal, id);',
    replace: 'await cache.delete(granted(id));',
  },
  {
    id: 'policy.approval.sealed',
    file: lists,
    find: "principal: `user:${userId}`, server: '-'",
    replace: "principal: `user:${userId.slice(0, 2)}`, server: '-'",
  },
  {
    id: 'policy.approval.bounded',
    file: approvals,
    find: 'if (calls.length - lost.size < MOST_PER_USER) return;',
    replace: 'if (calls.length - lost.size <= MOST_PER_USER) return;',
  },
  {
    id: 'policy.approval.audited',
    file: approvals,
    find: 'await audit.record(',
    replace: 'audit.note(',
  },
  {
    id: 'policy.approval.told',
    file: 'api/src/middleware/problem.ts',
    find: '...(error.approval !== undefined && { approval: error.approval }),',
    replace: '',
  },
  {
    id: 'policy.approval.routes',
    file: 'packages/contracts/src/rest/approvals.ts',
    find: 'z.strictObject({ approve: z.boolean() })',
    replace: 'z.strictObject({ approve: z.coerce.boolean() })',
  },
  {
    id: 'limits.rate.per-caller',
    file: buckets,
    find: 'if (waitMs === 0) bucket.left -= REQUEST;',
    replace: '',
  },
  {
    id: 'limits.rate.per-caller',
    file: buckets,
    find: 'bucket.left = Math.min(full, bucket.left +',
    replace: 'bucket.left = Math.min(full * 9, bucket.left +',
  },
  {
    id: 'limits.rate.batch',
    file: 'api/src/mcp/legacyDoor.ts',
    find: "for (const _further of messages.slice(1)) limits.take(exchange.caller, 'calls');",
    replace: '',
  },
  {
    id: 'limits.rate.bounded',
    file: buckets,
    find: 'if (age < MINUTE_MS && young.size < most / 2) return;',
    replace: 'if (age < MINUTE_MS) return;',
  },
  {
    id: 'limits.rate.bounded',
    file: buckets,
    find: '?? old.groups.get(group)?.get(name);',
    replace: ';',
  },
  {
    id: 'limits.refusals.per-network',
    file: limits,
    find: "refused: (address) => void refusals.take('', networkOf(address)),",
    replace: "refused: (address) => void refusals.take('', address),",
  },
  {
    id: 'policy.decide.names',
    file: 'packages/gateway/src/policy/toolPatterns.ts',
    find: "(server.source === 'user' ? ofUsers : ofOperator)(server, tool)",
    replace: "(server.source === 'user' ? ofOperator : ofOperator)(server, tool) || ofUsers(server, tool)",
  },
  {
    id: 'policy.decide.names',
    file: 'packages/gateway/src/policy/toolPatterns.ts',
    find: '/[*?]/.test(pattern.server)',
    replace: '/\\*/.test(pattern.server)',
  },
  {
    id: 'policy.decide.names',
    file: 'packages/gateway/src/policy/verdicts.ts',
    find: "source === 'user' ? users : operators",
    replace: "source === 'user' ? operators : operators",
  },
  {
    id: 'policy.decide.names',
    file: 'packages/gateway/src/policy/toolPolicy.ts',
    find: 'deny: compilePatterns(rules.deny)',
    replace: 'deny: compilePermissions(rules.deny)',
  },
  {
    id: 'limits.refusals.cookies',
    file: 'api/src/door/callers.ts',
    find: "return known(req, sessions, secret, 'AUTH_REQUIRED');",
    replace:
      "return Promise.resolve(sessions.resolve(secret, req.socket)).then((caller) => {\n      if (!caller) throw new GatewayError('AUTH_REQUIRED');\n      return caller;\n    });",
  },
  {
    id: 'limits.refusals.unheard',
    file: 'api/src/door/callers.ts',
    find: 'if (!isKnown && error',
    replace: 'if (isKnown && error',
  },
  {
    id: 'limits.refusals.cookies',
    file: 'api/src/door/callers.ts',
    find: 'if (!isKnown) limits',
    replace: 'limits',
  },
];
