import type { TenantAddresses } from '../tenant.ts';
import { DEMO_MODEL, demoResources } from './demoData.ts';

export interface DemoAddresses {
  readonly entra: TenantAddresses;
  readonly tokenEndpoint: string;
  /** URLs of the two servers. */
  readonly mail: string;
  readonly notes: string;
  /** Base URL of the model. */
  readonly model: string;
  readonly caFile: string;
}

/** The configuration of the gateway: what somebody would write for two servers and two ways to exchange. */
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
