import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the suite asks for, as its environment variables say it. */
export interface ConformanceScenario {
  readonly name: string;
  /** Of the MCP server. */
  readonly url: string;
  readonly context: ScenarioContext;
  /** Whose rules it plays by. */
  readonly revision: string;
}

/** What a scenario tells its client beforehand. */
export interface ScenarioContext {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly issuer?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
  readonly idp_issuer?: string;
  readonly idp_token_endpoint?: string;
  readonly toolCalls?: readonly {
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
}

/** A sign-in that has happened before the scenario begins. */
export interface Login {
  readonly issuer: string;
  readonly clientId: string;
  readonly idToken: string;
}

/** What an operator would write down for a scenario. */
export interface GatewayDefinition {
  /** Below `mcpServers`. */
  readonly server: object;
  readonly identityProviders?: object;
  /** Where people sign in, when they do. */
  readonly login?: Login;
}

export async function createDefinition(
  scenario: ConformanceScenario,
  directory: string,
): Promise<GatewayDefinition> {
  const { url, context } = scenario;
  const { idp_issuer: issuer, idp_client_id: clientId, idp_id_token: idToken } = context;
  if (issuer === undefined || clientId === undefined || idToken === undefined) {
    return { server: await createServerDefinition(scenario, directory) };
  }
  // Enterprise-managed authorization: a sign-in at the company's provider, and who we are at the server's own.
  const { client_id, client_secret, idp_token_endpoint: tokenEndpoint } = context;
  const issuerSettings = { issuer: await findIssuer(url), clientId: client_id, clientSecret: client_secret };
  return {
    server: { type: 'streamable-http', url, obo: { provider: 'enterprise', scopes: 'mcp' } },
    identityProviders: {
      enterprise: { type: 'id-jag', issuer, tokenEndpoint, resourceServers: [issuerSettings] },
    },
    login: { issuer, clientId, idToken },
  };
}

/** As an operator reads it there: the suite does not say. */
export async function findIssuer(url: string): Promise<string> {
  const { origin, pathname } = new URL(url);
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers: servers } = (await response.json()) as { authorization_servers: string[] };
  return servers[0] ?? '';
}

async function createServerDefinition(
  { name, url, context }: ConformanceScenario,
  directory: string,
): Promise<object> {
  const server = { type: 'streamable-http', url };
  if (name.startsWith('auth/client-credentials-')) {
    return {
      ...server,
      oauth: { grant: 'client_credentials', ...(await createClientSettings(context, directory)) },
    };
  }
  if (context.client_id !== undefined)
    return { ...server, oauth: await createClientSettings(context, directory) };
  // Without it the first look at the server would find out.
  if (name.startsWith('auth/')) return { ...server, requiresOAuth: true };
  // Connects when it is called, and not before: each scenario counts what it is sent.
  return { ...server, requiresOAuth: false, startup: false };
}

async function createClientSettings(context: ScenarioContext, directory: string): Promise<object> {
  const { client_id, client_secret, private_key_pem, signing_algorithm, issuer } = context;
  const clientSettings = { client_id, client_secret, issuer };
  if (private_key_pem === undefined) return clientSettings;
  const file = join(directory, 'client-key.pem');
  await writeFile(file, private_key_pem, { mode: 0o600 });
  return { ...clientSettings, private_key_file: file, private_key_alg: signing_algorithm };
}
