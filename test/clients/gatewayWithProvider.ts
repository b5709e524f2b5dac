import type { Readable } from 'node:stream';
import { createScriptedBrowser, createDevIdp } from '@behalf/devidp';
import { spawnGateway, type ServerDefinition } from '../conformance/spawnGateway.ts';

export interface GatewayWithProvider {
  /** Where all servers are, under the name that tokens are issued for. */
  readonly url: string;
  /** Reads what a client says to its user, and signs the user in where it asks for that. */
  readonly watchOutput: (output: Readable) => void;
  /** How often somebody had to sign in. */
  readonly countSignIns: () => number;
  close(): Promise<void>;
}

const GATEWAY_CLIENT_SECRET = 'secret-of-the-gateway';

/** A gateway whose users are those of the development identity provider, and one of them before their client. */
export async function startGatewayWithProvider(
  mcpServers: Readonly<Record<string, ServerDefinition>>,
): Promise<GatewayWithProvider> {
  const idp = await createDevIdp({
    ...{ isProduction: false, port: 0, audience: 'api://behalf', allowsRegistration: true },
    users: [{ id: 'u-ada', email: 'ada@example.com', name: 'Ada' }],
    clients: [{ id: 'behalf', secret: GATEWAY_CLIENT_SECRET }],
    isAllowedResource: (uri) => uri.startsWith('http://localhost:'),
  });
  try {
    const gateway = await spawnGateway(mcpServers, {
      ...{
        OPENID_ISSUER: idp.issuer,
        OPENID_CLIENT_ID: 'behalf',
        OPENID_CLIENT_SECRET: GATEWAY_CLIENT_SECRET,
      },
      ...{ OPENID_AUDIENCE: 'api://behalf', OPENID_MCP_SCOPE: 'access_as_user' },
    });
    let countSignIns = 0;

    /** As a browser does it: to the provider, and back to the client that listens. */
    async function signIn(url: string): Promise<void> {
      countSignIns += 1;
      const callbackUrl = await createScriptedBrowser().signIn(url, 'u-ada');
      const response = await fetch(callbackUrl);
      if (!response.ok) throw new Error(`The client answers its user with ${response.status}`);
    }

    return {
      url: `http://localhost:${gateway.port}/mcp`,
      watchOutput(output) {
        let text = '';
        output.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          const lines = text.split('\n');
          text = lines.pop() ?? '';
          for (const line of lines) {
            const urlStart = line.indexOf(`${idp.issuer}/`);
            const url = urlStart < 0 ? '' : (line.slice(urlStart).split(/\s/, 1)[0] ?? '');
            // The client waits for its user: it ends with an error of its own when nobody comes.
            if (url.includes('code_challenge='))
              signIn(url).catch((error: unknown) => void process.stderr.write(`${String(error)}\n`));
          }
        });
      },
      countSignIns: () => countSignIns,
      async close() {
        await gateway.close();
        await idp.close();
      },
    };
  } catch (error) {
    await idp.close();
    throw error;
  }
}
