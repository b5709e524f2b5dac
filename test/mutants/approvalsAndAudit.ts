import type { Mutant } from '../../tools/mutants/mutant.ts';

/** Approvals, the audit log and the sealing of stored values. */
export const approvalsAndAudit: readonly Mutant[] = [
  {
    id: 'approval-used-by-two-calls',
    file: 'packages/gateway/src/tools/approvals.ts',
    find: 'if (!(await cache.delete(grantedKey(call.id)))) continue;',
    replace: 'await cache.delete(grantedKey(call.id));',
    test: 'packages/gateway/src/tools/approvals.test.ts',
  },
  {
    id: 'approval-decided-twice',
    file: 'packages/gateway/src/tools/approvals.ts',
    find: "if (!(await cache.delete(waitingKey(id)))) throw new GatewayError('MCP_APPROVAL_NOT_FOUND');",
    replace: 'await cache.delete(waitingKey(id));',
    test: 'packages/gateway/src/tools/approvals.test.ts',
  },
  {
    id: 'approval-without-the-tool-description',
    file: 'packages/gateway/src/tools/approvals.ts',
    find: '[name, title, description, inputSchema, annotations]',
    replace: '[name, title, inputSchema, annotations]',
    test: 'packages/gateway/src/tools/enforceApproval.test.ts',
  },
  {
    id: 'approval-before-its-audit-event',
    file: 'packages/gateway/src/tools/approvals.ts',
    find: 'await audit.record(',
    replace: 'audit.note(',
    test: 'packages/gateway/src/tools/approvals.test.ts',
  },
  {
    id: 'audit-event-confirmed-before-it-is-written',
    file: 'packages/gateway/src/audit/auditLog.ts',
    find: 'await appendWithRetry(batch);',
    replace:
      'for (const notifyWritten of batch.onWritten) notifyWritten();\n      await appendWithRetry(batch);',
    test: 'packages/gateway/src/audit/auditLog.test.ts',
  },
  {
    id: 'audit-mac-without-the-sequence-number',
    file: 'packages/gateway/src/audit/segment.ts',
    find: 'binding: [writer, String(seq), prev, String(firstAt), String(lastAt), String(count)]',
    replace: 'binding: [writer, prev, String(firstAt), String(lastAt), String(count)]',
    test: 'packages/gateway/src/audit/verifyAudit.test.ts',
  },
  {
    id: 'audit-events-removed-before-the-removal-is-recorded',
    file: 'packages/gateway/src/audit/integrity.ts',
    find: '    await audit.record({',
    replace: '    await store.removeBefore(before);\n    await audit.record({',
    test: 'packages/gateway/src/audit/verifyAudit.test.ts',
  },
  {
    id: 'audit-of-a-tenant-with-the-same-prefix',
    file: 'packages/gateway/src/audit/readAudit.ts',
    find: 'event.tenant === tenant && matchesFilters',
    replace: 'event.tenant.startsWith(tenant) && matchesFilters',
    test: 'packages/gateway/src/audit/readAudit.test.ts',
  },
  {
    id: 'argument-values-in-the-audit-log',
    file: 'packages/gateway/src/toolcall/audit.ts',
    find: 'request.args && Object.keys(request.args)',
    replace: 'request.args && Object.entries(request.args).map(String)',
    test: 'test/scenarios/secrets.test.ts',
  },
  {
    id: 'sealed-value-moved-to-another-row',
    file: 'packages/kernel/src/seal.ts',
    find: '[FORMAT_VERSION, tenant, principal, server, kind, field, ...binding]',
    replace: '[FORMAT_VERSION, tenant, principal, server, kind, field]',
    test: 'packages/kernel/src/seal.test.ts',
  },
  {
    id: 'seal-context-with-ambiguous-lengths',
    file: 'packages/kernel/src/seal.ts',
    find: 'return [length, bytes];',
    replace: 'return [bytes];',
    test: 'packages/kernel/src/seal.test.ts',
  },
];
