// Reviewed exceptions of the lint rules in this folder.

/** Identifiers that are standard terms in spite of the list, each with the reason. */
export const allowedNames = {};

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
