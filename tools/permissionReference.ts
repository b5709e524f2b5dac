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
import { actors, matrix, type Actor } from '../test/scenarios/matrix.ts';

/** A bit without a text does not compile. */
const permissionTexts: Record<McpPermission, string> = {
  USE: 'list and use servers; creating, changing and sharing them need it too',
  CREATE: 'create servers, and change and delete those whose bits allow it',
  SHARE: 'share servers whose bits allow it, and search for people to share with',
  SHARE_PUBLIC: 'make them public, or share them with the role USER',
  CONFIGURE_OBO: 'give a server `obo`, and change more than the texts of one that has it',
};

const aclTexts: Record<AclBit, string> = {
  VIEW: 'see it and use it',
  EDIT: 'see its addresses, and change it',
  DELETE: 'delete it',
  SHARE: 'see with whom it is shared, and share it',
};

const scopeTexts: Record<ApiKeyScope, string> = {
  mcp: 'list servers, tools and blocks, call, run, read; enter values of one’s own',
  servers: 'create, change, delete and share servers and blocks',
  admin: 'what the role ADMIN allows',
  obo: 'have the owner’s sign-in exchanged for servers with `obo`, besides `mcp`',
};

const actorTexts: Record<Actor, string> = {
  anonymous: 'nobody is signed in',
  user: 'role USER; the server in question is not shared with them',
  creator: 'a role with USE, CREATE and SHARE; nor is it shared with them',
  editor: 'the same role; the server is shared with them as `mcpServer_editor`',
  owner: 'the same role; they created the server',
  admin: 'role ADMIN of the same tenant; nobody shared the server with them',
  former: 'they created the server in question with such a role, and are USER now',
};

/** Who may do what: the bits from the contracts, the table from what a test sends and compares. */
export function permissionReference(): string {
  const yes = (value: boolean) => (value ? 'yes' : 'no');
  const held = (bits: number) =>
    Object.entries(aclBits)
      .filter(([, bit]) => (bits & bit) !== 0)
      .map(([name]) => name)
      .join(', ');
  const lines = Object.entries(matrix).map(
    ([route, { expect }]) => `| ${code(route)} | ${expect.join(' | ')} |`,
  );
  return `# Permissions

Two questions are asked of every request: what does the **role** of the caller allow, and what may the caller do with **this
server**? The routes with their bodies: [REST](rest.md). How to give permissions: [Accounts](../guides/accounts.md#roles),
[Servers of users](../guides/own-servers.md).

## Bits of a role

\`MCP_SERVERS\` of a role. A role of your own has what it was given and nothing else.

| Bit | Allows to | USER | ADMIN |
| --- | --- | --- | --- |
${mcpPermissions.map((bit) => `| ${code(bit)} | ${permissionTexts[bit]} | ${yes(roleDefaults.USER[bit])} | ${yes(roleDefaults.ADMIN[bit])} |`).join('\n')}

These are the defaults. What administrators store counts before them, and what \`interface.mcpServers\` of the configuration names
counts before both. A role that does not exist has nothing.

## Bits of a server

| Bit | Number | Allows to |
| --- | --- | --- |
${Object.entries(aclBits)
  .map(([bit, number]) => `| ${code(bit)} | ${number} | ${aclTexts[bit as AclBit]} |`)
  .join('\n')}

They are given in named sets, to a user, a group, a role, or everybody of the tenant (\`public\`):

| Set | Number | Bits |
| --- | --- | --- |
${Object.entries(aclRoles)
  .map(([role, bits]) => `| ${code(role)} | ${bits} | ${held(bits)} |`)
  .join('\n')}

- A caller has the bits of all entries that mean them, together. Programs with a token of their own are meant by role and \`public\`
  alone.
- A server of the configuration gives VIEW to everybody, or to those its \`access\` lists. Administrators can share it further, as
  \`mcpServer_viewer\`; nobody gets EDIT or DELETE of it.
- Who creates a server owns it: all four bits.
- Administrators have every bit of the servers that users of their tenant created, for looking after them. To **use** one they need VIEW
  like everybody.

## Bits of a block

The same bits in the same sets, at \`/api/permissions/block/:id\`. VIEW of a [block](../guides/blocks.md) is to see and to run it; EDIT to
change its texts and inputs.

- Who saves a block owns it. Saving, changing and running one needs USE of the role, and sharing it SHARE and SHARE_PUBLIC, as for servers.
- A block gives nobody its server: whoever runs it must have that themselves.
- Inputs are what people typed in. Administrators see the blocks that are shared with them, and may delete these; of others they see
  nothing.

## Scopes of an API key

A key can do what its owner can, within its scopes. No key opens the routes for keys, for one’s own sessions, and for approving calls;
nor does a token of the identity provider.

| Scope | Allows to |
| --- | --- |
${apiKeyScopes.map((scope) => `| ${code(scope)} | ${scopeTexts[scope]} |`).join('\n')}

## Every route, every kind of caller

What each is answered. A test sends all of these requests over HTTP to a gateway, with a session cookie, and compares; it fails when a
route is not in the table. A request that is the same for all, such as one with an empty body (400) or an unknown id (404), shows who
gets as far as that.

| Caller | Who |
| --- | --- |
${actors.map((actor) => `| ${actor} | ${actorTexts[actor]} |`).join('\n')}

| Route | ${actors.join(' | ')} |
| --- | ${actors.map(() => '---').join(' | ')} |
${lines.join('\n')}

To \`user\` and \`creator\` the server does not exist: 404, or 403 where the role alone refuses. \`admin\` looks after it without using it.
`;
}

function code(text: string): string {
  return `\`${text}\``;
}
