import type { Page } from 'playwright-core';

type Json = Readonly<Record<string, unknown>>;

/** Asks the gateway besides the page, as whoever is signed in in its window. */
export async function sendRest(page: Page, method: string, path: string, data?: object): Promise<Json> {
  const response = await page.request.fetch(new URL(path, page.url()).href, {
    method,
    headers: { 'x-behalf-csrf': '1' },
    ...(data && { data }),
  });
  const text = await response.text();
  if (!response.ok()) throw new Error(`${method} ${path}: ${response.status()} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Json);
}

/** The id of whoever is signed in in this window. */
export async function readUserId(page: Page): Promise<string> {
  return String((await sendRest(page, 'GET', '/api/user'))['id']);
}

/** Makes a role, and gives it to somebody. */
export async function assignRole(
  admin: Page,
  user: string,
  role: { name: string; permissions: object },
): Promise<void> {
  const permissions = { MCP_SERVERS: role.permissions };
  await sendRest(admin, 'POST', '/api/admin/roles', { name: role.name, permissions });
  await sendRest(admin, 'PATCH', `/api/admin/users/${user}`, { role: role.name });
}

/** A new server of whoever is signed in in this window, shared with these. */
export async function createServerOverRest(
  owner: Page,
  config: Json,
  sharing: Json = { updated: [], removed: [], public: false },
): Promise<string> {
  const { serverName, dbId } = await sendRest(owner, 'POST', '/api/mcp/servers', { config });
  const fullSharing = { updated: [], removed: [], public: false, ...sharing };
  await sendRest(owner, 'PUT', `/api/permissions/mcpServer/${String(dbId)}`, fullSharing);
  return String(serverName);
}
