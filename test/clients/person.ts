import type { Readable } from 'node:stream';
import { createScriptedBrowser, createDevIdp } from '@behalf/devidp';
import { spawnGateway, type Definition } from '../conformance/spawnGateway.ts';

export interface WithProvider {
  /** Where all servers are, under the name that tokens are issued for. */
  readonly url: string;
  /** Reads what a client says to its user, and signs the user in where it asks for that. */
  readonly accompany: (said: Readable) => void;
  /** How often somebody had to sign in. */
  readonly asked: () => number;
  close(): Promise<void>;
}

const SECRET = 'secret-of-the-gateway';

/** A gateway whose users are those of the development identity provider, and one of them before their client. */
export async function startWithProvider(
  mcpServers: Readonly<Record<string, Definition>>,
): Promise<WithProvider> {
  const idp = await createDevIdp({
    ...{ production: false, port: 0, audience: 'api://behalf', registration: true },
    users: [{ id: 'u-ada', email: 'ada@example.com', name: 'Ada' }],
    clients: [{ id: 'behalf', secret: SECRET }],
    isResource: (uri) => uri.startsWith('http://localhost:'),
  });
  try {
    const gateway = await spawnGateway(mcpServers, {
      ...{ OPENID_ISSUER: idp.issuer, OPENID_CLIENT_ID: 'behalf', OPENID_CLIENT_SECRET: SECRET },
      ...{ OPENID_AUDIENCE: 'api://behalf', OPENID_MCP_SCOPE: 'access_as_user' },
    });
    let asked = 0;

    /** As a browser does it: to the provider, and back to the client that listens. */
    async function signIn(address: string): Promise<void> {
      asked += 1;
      const back = await createScriptedBrowser().signIn(address, 'u-ada');
      const answer = await fetch(back);
      if (!answer.ok) throw new Error(`The client answers its user with ${answer.status}`);
    }

    return {
      url: `http://localhost:${gateway.port}/mcp`,
      accompany(said) {
        let text = '';
        said.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          const lines = text.split('\n');
          text = lines.pop() ?? '';
          for (const line of lines) {
            const at = line.indexOf(`${idp.issuer}/`);
            const address = at < 0 ? '' : (line.slice(at).split(/\s/, 1)[0] ?? '');
            // The client waits for its user: it ends with an error of its own when nobody comes.
            if (address.includes('code_challenge='))
              signIn(address).catch((error: unknown) => void process.stderr.write(`${String(error)}\n`));
          }
        });
      },
      asked: () => asked,
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
