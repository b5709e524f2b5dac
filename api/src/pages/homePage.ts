import type { UserPrincipal } from '@behalf/gateway';
import { html } from './html.ts';
import { page } from './page.ts';

export interface ServerSummary {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
}

/** What a signed-in person has here. */
export function homePage(caller: UserPrincipal, servers: readonly ServerSummary[]): string {
  const list =
    servers.length === 0
      ? html`<p class="empty">
          No servers yet. Add them under <code>mcpServers</code> in <code>librechat.yaml</code>, then reload.
        </p>`
      : html`<ul class="servers">
          ${servers.map(
            ({ name, title = name, description = '' }) =>
              html`<li>
                <strong>${title}</strong> <code>${name}</code><br /><span class="hint">${description}</span>
              </li>`,
          )}
        </ul>`;
  return page(
    'Home',
    html`<h1>Welcome, ${caller.name}</h1>
      <p>Signed in as ${caller.email} (${caller.role}).</p>
      <h2>Servers</h2>
      ${list}
      <p><a href="/api/mcp/tools">All tools as JSON</a></p>
      <form method="post" action="/api/auth/logout">
        <button type="submit" class="quiet">Sign out</button>
      </form>`,
  );
}
