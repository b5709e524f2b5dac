import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the suite asks for, as its environment variables say it. */
export interface Scenario {
  readonly name: string;
  /** Of the MCP server. */
  readonly url: string;
  readonly context: ScenarioContext;
}

/** What a scenario tells its client beforehand. */
export interface ScenarioContext {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly issuer?: string;
  readonly toolCalls?: readonly {
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
}

/** The server as an operator would define it. */
export async function definitionOf({ name, url, context }: Scenario, dir: string): Promise<object> {
  const server = { type: 'streamable-http', url };
  if (name.startsWith('auth/client-credentials-')) {
    return { ...server, oauth: { grant: 'client_credentials', ...(await clientOf(context, dir)) } };
  }
  if (context.client_id !== undefined) return { ...server, oauth: await clientOf(context, dir) };
  // Without it the first look at the server would find out.
  if (name.startsWith('auth/')) return { ...server, requiresOAuth: true };
  // Connects when it is called, and not before: each scenario counts what it is sent.
  return { ...server, requiresOAuth: false, startup: false };
}

async function clientOf(context: ScenarioContext, dir: string): Promise<object> {
  const { client_id, client_secret, private_key_pem, signing_algorithm, issuer } = context;
  const named = { client_id, client_secret, issuer };
  if (private_key_pem === undefined) return named;
  const file = join(dir, 'client-key.pem');
  await writeFile(file, private_key_pem, { mode: 0o600 });
  return { ...named, private_key_file: file, private_key_alg: signing_algorithm };
}
