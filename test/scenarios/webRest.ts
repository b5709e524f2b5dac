import type { Page } from 'playwright-core';

type Json = Readonly<Record<string, unknown>>;

/** Asks the gateway besides the page, as whoever is signed in in its window. */
export async function askRest(page: Page, method: string, path: string, data?: object): Promise<Json> {
  const answer = await page.request.fetch(new URL(path, page.url()).href, {
    method,
    headers: { 'x-behalf-csrf': '1' },
    ...(data && { data }),
  });
  const text = await answer.text();
  if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Json);
}

/** The id of whoever is signed in in this window. */
export async function idOf(page: Page): Promise<string> {
  return String((await askRest(page, 'GET', '/api/user'))['id']);
}

/** Makes a role, and gives it to somebody. */
export async function giveRole(
  admin: Page,
  user: string,
  role: { name: string; permissions: object },
): Promise<void> {
  const permissions = { MCP_SERVERS: role.permissions };
  await askRest(admin, 'POST', '/api/admin/roles', { name: role.name, permissions });
  await askRest(admin, 'PATCH', `/api/admin/users/${user}`, { role: role.name });
}

/** A new server of whoever is signed in in this window, shared with these. */
export async function createServer(
  owner: Page,
  config: Json,
  sharing: Json = { updated: [], removed: [], public: false },
): Promise<string> {
  const { serverName, dbId } = await askRest(owner, 'POST', '/api/mcp/servers', { config });
  const whole = { updated: [], removed: [], public: false, ...sharing };
  await askRest(owner, 'PUT', `/api/permissions/mcpServer/${String(dbId)}`, whole);
  return String(serverName);
}
