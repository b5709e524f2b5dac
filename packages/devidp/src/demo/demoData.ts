import type { DevClient, DevUser } from '../directory.ts';
import type { DevResource } from '../exchange/resources.ts';
import type { TenantAddresses } from '../providerConfiguration.ts';

/** The demo's users: one of each kind that the gateway treats differently. */
export const demoUsers: readonly DevUser[] = [
  { id: 'ada', email: 'ada@example.test', name: 'Ada Admin', roles: ['ADMIN'], groups: ['staff'] },
  { id: 'uma', email: 'uma@example.test', name: 'Uma User', roles: ['USER'], groups: ['staff'] },
  { id: 'gil', email: 'gil@example.test', name: 'Gil Guest' },
];

/** Public values, because the provider listens on loopback only. */
export const demoClient = { id: 'behalf', secret: 'behalf-development-only' };
export const DEMO_AUDIENCE = 'api://behalf';
export const DEMO_TENANT = 'contoso';
export const DEMO_MODEL = 'demo';

/** The redirect URIs of the gateway, with both names of this machine: browsers and programs use different ones. */
export function createDemoLoginClient(gatewayPort: number): DevClient {
  const origins = [`http://localhost:${gatewayPort}`, `http://127.0.0.1:${gatewayPort}`];
  return {
    ...demoClient,
    redirectUris: origins.map((origin) => `${origin}/oauth/openid/callback`),
    postLogoutRedirectUris: origins.map((origin) => `${origin}/`),
  };
}

/** One server for each exchange protocol. */
export const demoResources = {
  mail: { id: 'api://mail', audience: 'mail-api', scopes: ['Mail.Read', 'Mail.Send'] },
  notes: { id: 'api://notes', audience: 'notes-api', scopes: ['notes.read'] },
} as const satisfies Record<string, DevResource>;

interface DemoAddresses {
  readonly entra: TenantAddresses;
  readonly tokenEndpoint: string;
  /** URLs of the two servers. */
  readonly mail: string;
  readonly notes: string;
  /** Base URL of the model. */
  readonly model: string;
  readonly caFile: string;
}

/** The gateway's configuration with two servers and two exchange protocols. */
export function renderDemoYaml({ entra, tokenEndpoint, mail, notes, model, caFile }: DemoAddresses): string {
  const ca = JSON.stringify(caFile);
  const hosts = [mail, notes].map((url) => JSON.stringify(new URL(url).host));
  return `# Identity providers for token exchange. Client and secret come from the sign-in (OPENID_*).
identityProviders:
  # The login provider, used by servers without \`obo.provider\`. Entra On-Behalf-Of.
  login:
    type: entra
    authority: ${entra.authority}
    caFile: ${ca}
    targets:
      - { scopes: ['${demoResources.mail.id}/.default'], origins: ['${new URL(mail).origin}'] }
  # OAuth 2.0 Token Exchange (RFC 8693).
  exchange:
    type: token-exchange
    tokenEndpoint: ${tokenEndpoint}
    caFile: ${ca}
    targets:
      - { scopes: [notes.read], origins: ['${new URL(notes).origin}'] }

mcpServers:
  mail:
    type: streamable-http
    title: Mail
    url: ${mail}
    caFile: ${ca}
    obo: { scopes: '${demoResources.mail.id}/.default' }
  notes:
    type: streamable-http
    title: Notes
    url: ${notes}
    caFile: ${ca}
    obo: { provider: exchange, scopes: notes.read, audience: '${demoResources.notes.id}' }

# A model for the chat. A real one has an apiKey: '\${NAME}'.
endpoints:
  custom:
    - name: Demo
      baseURL: ${model}
      models: { default: [${DEMO_MODEL}] }

# Both servers are on this machine.
mcpSettings:
  operatorAddresses: [${hosts.join(', ')}]
`;
}
