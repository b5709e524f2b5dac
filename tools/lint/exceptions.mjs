// Reviewed exceptions of the lint rules in this folder.

/** Names and phrases that a file may use in spite of the list, each with the reason. */
export const allowedTerms = [
  { name: 'asked', file: 'packages/web/src/admin/audit/auditEvent.ts', reason: 'outcome of an audit event' },
  { name: 'asked', file: 'packages/web/src/strings/en/audit.ts', reason: 'outcome of an audit event' },
  { name: 'kept', file: 'packages/web/src/strings/en/serverDialogs.ts', reason: 'REST value of a draft' },
  { name: 'somebody', file: 'packages/gateway/src/tools/search/terms.ts', reason: 'list of stop words' },
];

/** Pages that are not rewritten in plain English yet. Remove an entry when its page is. */
export const unreviewedDocs = [
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTEXT.md',
  'README.md',
  'SECURITY.md',
  'bench/',
  'docs/adr/',
  'docs/guides/',
  'docs/reference/cli.md',
  'docs/reference/config.md',
  'docs/reference/environment.md',
  'docs/reference/errors.md',
  'docs/reference/mcp.md',
  'docs/reference/permissions.md',
  'docs/reference/rest.md',
];
