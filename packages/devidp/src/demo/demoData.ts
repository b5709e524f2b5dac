import type { DevClient } from '../clients.ts';
import type { DevResource } from '../exchange/resources.ts';
import type { DevUser } from '../users.ts';

/** The demo's people: each kind of account that the gateway treats differently. */
export const demoUsers: readonly DevUser[] = [
  { id: 'ada', email: 'ada@example.test', name: 'Ada Admin', roles: ['ADMIN'], groups: ['staff'] },
  { id: 'uma', email: 'uma@example.test', name: 'Uma User', roles: ['USER'], groups: ['staff'] },
  { id: 'gil', email: 'gil@example.test', name: 'Gil Guest' },
];

/** No secrets: everybody who runs this knows them, and it answers this machine only. */
export const demoClient = { id: 'behalf', secret: 'behalf-development-only' };
export const DEMO_AUDIENCE = 'api://behalf';
export const DEMO_TENANT = 'contoso';
export const DEMO_MODEL = 'demo';

/** Where the gateway may send people back to. Both names of this machine: a browser and a program differ in theirs. */
export function createDemoLoginClient(gatewayPort: number): DevClient {
  const origins = [`http://localhost:${gatewayPort}`, `http://127.0.0.1:${gatewayPort}`];
  return {
    ...demoClient,
    redirectUris: origins.map((origin) => `${origin}/oauth/openid/callback`),
    postLogoutRedirectUris: origins.map((origin) => `${origin}/`),
  };
}

/** One server for each way to exchange. */
export const demoResources = {
  mail: { id: 'api://mail', audience: 'mail-api', scopes: ['Mail.Read', 'Mail.Send'] },
  notes: { id: 'api://notes', audience: 'notes-api', scopes: ['notes.read'] },
} as const satisfies Record<string, DevResource>;
