import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createScriptedBrowser } from '@behalf/devidp';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { parse } from 'yaml';
import { repositoryRoot } from '../../tools/sources.ts';

/** What the guide tells an operator to write down, on either side. */
export interface LibreChatGuide {
  readonly libreChat: Readonly<Record<string, string>>;
  readonly behalf: Readonly<Record<string, string>>;
  readonly mcpServers: Readonly<Record<string, LibreChatServer>>;
}

export interface LibreChatServer {
  readonly type: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An application at the identity provider. */
export interface ProviderClient {
  readonly id: string;
  readonly secret: string;
}

/** Where nobody listens: the browser of the test stops there. */
export const LIBRECHAT_CALLBACK = 'http://127.0.0.1:9/oauth/openid/callback';
const PLACEHOLDER = '{{LIBRECHAT_OPENID_ACCESS_TOKEN}}';

/** The guide as it is printed: a test that wrote its own file would prove nothing about that one. */
export function readLibreChatGuide(): LibreChatGuide {
  const text = readFileSync(join(repositoryRoot, 'docs/guides/behind-librechat.md'), 'utf8');
  const readVariables = (component: string) => {
    const block = extractCodeBlocks(text, 'sh').find((block) => block.startsWith(`# ${component}\n`)) ?? '';
    const lines = [...block.matchAll(/^(\w+)=(.*)$/gm)];
    return Object.fromEntries(lines.map(([, name = '', value = '']) => [name, value] as const));
  };
  const [yaml = ''] = extractCodeBlocks(text, 'yaml');
  const { mcpServers } = parse(yaml) as Pick<LibreChatGuide, 'mcpServers'>;
  return { libreChat: readVariables('LibreChat'), behalf: readVariables('Behalf'), mcpServers };
}

function extractCodeBlocks(text: string, language: string): string[] {
  return text
    .split(/^```/m)
    .flatMap((part) => (part.startsWith(`${language}\n`) ? part.slice(language.length + 1) : []));
}

/** Signs somebody in as LibreChat does, with its own client; the access token that it keeps of that. */
export async function signInAtLibreChat(
  issuer: string,
  { client, scope, user }: { client: ProviderClient; scope: string; user: string },
): Promise<string> {
  const verifier = randomBytes(32).toString('base64url');
  const authorizationUrl = new URL('/auth', issuer);
  authorizationUrl.search = new URLSearchParams({
    ...{ response_type: 'code', client_id: client.id, redirect_uri: LIBRECHAT_CALLBACK, scope },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    ...{ code_challenge_method: 'S256', state: 'state' },
  }).toString();
  const callbackUrl = await createScriptedBrowser().signIn(authorizationUrl, user);
  const response = await fetch(new URL('/token', issuer), {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}` },
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', redirect_uri: LIBRECHAT_CALLBACK, code_verifier: verifier },
      code: callbackUrl.searchParams.get('code') ?? '',
    }),
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`No token: ${response.status} ${callbackUrl.search}`);
  return token;
}

/**
 * One entry of `mcpServers` as LibreChat uses it: the first SDK, with the configured headers on every request. Of a user
 * without a token of the provider the words go out as they are.
 */
export async function connectLibreChat(
  server: LibreChatServer,
  { base, token }: { base: string; token: string | null },
): Promise<Client> {
  if (server.type !== 'streamable-http') throw new Error(`No transport for ${server.type}`);
  const headers = Object.fromEntries(
    Object.entries(server.headers).map(([name, value]) => [
      name,
      token === null ? value : value.replaceAll(PLACEHOLDER, token),
    ]),
  );
  const { pathname } = new URL(server.url);
  const client = new Client({ name: '@librechat/api-client', version: '1.2.3' }, { capabilities: {} });
  const transport = new StreamableHTTPClientTransport(new URL(pathname, base), { requestInit: { headers } });
  await client.connect(transport);
  return client;
}
