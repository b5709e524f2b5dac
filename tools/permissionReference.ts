import {
  aclBits,
  aclRoles,
  apiKeyScopes,
  mcpPermissions,
  roleDefaults,
  type AclBit,
  type ApiKeyScope,
  type McpPermission,
} from '@behalf/contracts';
import { matrixActors, accessMatrix, type Actor } from '../test/scenarios/accessMatrix.ts';

/** A permission without a text does not compile. */
const permissionTexts: Record<McpPermission, string> = {
  USE: 'list and use servers; also required to create, change and share them',
  CREATE: 'create servers, and change and delete servers if their bits allow it',
  SHARE: 'share servers if their bits allow it, and search for users to share with',
  SHARE_PUBLIC: 'make servers public, or share them with the role USER',
  CONFIGURE_OBO: 'add `obo` to a server, and change more than the texts of a server with `obo`',
};

const aclTexts: Record<AclBit, string> = {
  VIEW: 'see it and use it',
  EDIT: 'see its addresses, and change it',
  DELETE: 'delete it',
  SHARE: 'see its shares, and share it',
};

const scopeTexts: Record<ApiKeyScope, string> = {
  mcp: 'list servers, tools and blocks, call, run, read; enter own values',
  servers: 'create, change, delete and share servers and blocks',
  admin: 'what the role ADMIN allows',
  obo: 'exchange the owner’s sign-in for servers with `obo`; requires `mcp`',
};

const actorTexts: Record<Actor, string> = {
  anonymous: 'without a sign-in',
  user: 'role USER; the server is not shared with them',
  creator: 'a role with USE, CREATE and SHARE; the server is not shared with them',
  editor: 'the same role; the server is shared with them as `mcpServer_editor`',
  owner: 'the same role; they created the server',
  admin: 'role ADMIN of the same tenant; the server is not shared with them',
  former: 'they created the server with such a role, and now have the role USER',
};

/** The permission matrix. A test generates the table from actual requests. */
export function renderPermissionReference(): string {
  const toYesNo = (value: boolean) => (value ? 'yes' : 'no');
  const formatBits = (bits: number) =>
    Object.entries(aclBits)
      .filter(([, bit]) => (bits & bit) !== 0)
      .map(([name]) => name)
      .join(', ');
  const lines = Object.entries(accessMatrix).map(
    ([route, { expectedStatuses: expect }]) => `| ${code(route)} | ${expect.join(' | ')} |`,
  );
  return `# Permissions

Every request is checked twice: against the **role** of the caller, and against the permissions of the caller for **this
server**. The routes with their bodies: [REST](rest.md). How to give permissions: [Accounts](../guides/accounts.md#roles),
[Servers of users](../guides/own-servers.md).

## Bits of a role

\`MCP_SERVERS\` of a role. A custom role has only the bits that it was given.

| Bit | Allows to | USER | ADMIN |
| --- | --- | --- | --- |
${mcpPermissions.map((bit) => `| ${code(bit)} | ${permissionTexts[bit]} | ${toYesNo(roleDefaults.USER[bit])} | ${toYesNo(roleDefaults.ADMIN[bit])} |`).join('\n')}

These are the defaults. Permissions stored by administrators override them, and \`interface.mcpServers\` of the configuration
overrides both. A role that does not exist has no permissions.

## Bits of a server

| Bit | Number | Allows to |
| --- | --- | --- |
${Object.entries(aclBits)
  .map(([bit, number]) => `| ${code(bit)} | ${number} | ${aclTexts[bit as AclBit]} |`)
  .join('\n')}

They are granted in named sets, to a user, a group, a role, or all users of the tenant (\`public\`):

| Set | Number | Bits |
| --- | --- | --- |
${Object.entries(aclRoles)
  .map(([role, bits]) => `| ${code(role)} | ${bits} | ${formatBits(bits)} |`)
  .join('\n')}

- A caller has the bits of all matching entries together. Service principals match by role and \`public\`
  only.
- A server of the configuration grants VIEW to all users, or to those listed in its \`access\`. Administrators can share it further, as
  \`mcpServer_viewer\`; EDIT and DELETE are never granted.
- The creator of a server owns it: all four bits.
- Administrators have every bit of the servers that users of their tenant created, to manage them. To **use** a server they need VIEW
  like all users.

## Bits of a block

The same bits in the same sets, at \`/api/permissions/block/:id\`. VIEW of a [block](../guides/blocks.md) allows to see and run it; EDIT to
change its texts and inputs.

- The user who saves a block owns it. Saving, changing and running one needs USE of the role, and sharing it SHARE and SHARE_PUBLIC, as for servers.
- A block does not grant access to its server: the user who runs the block needs that access.
- Inputs are entered by users. Administrators see the blocks that are shared with them, and may delete these; they do not see
  other blocks.

## Scopes of an API key

A key can do what its owner can, within its scopes. Neither a key nor a token of the identity provider can use the routes for keys, own sessions
and the approval of calls.

| Scope | Allows to |
| --- | --- |
${apiKeyScopes.map((scope) => `| ${code(scope)} | ${scopeTexts[scope]} |`).join('\n')}

## Every route, every kind of caller

The response to each caller. A test sends all of these requests over HTTP to a gateway, with a session cookie, and compares; it fails when a
route is not in the table. A request that is the same for all, such as one with an empty body (400) or an unknown id (404), shows who
gets as far as that.

| Caller | Who |
| --- | --- |
${matrixActors.map((actor) => `| ${actor} | ${actorTexts[actor]} |`).join('\n')}

| Route | ${matrixActors.join(' | ')} |
| --- | ${matrixActors.map(() => '---').join(' | ')} |
${lines.join('\n')}

For \`user\` and \`creator\` the server does not exist: 404, or 403 if the role already refuses. \`admin\` manages it without using it.
`;
}

function code(text: string): string {
  return `\`${text}\``;
}
