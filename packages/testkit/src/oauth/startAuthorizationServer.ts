import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthorizationCore } from './authorizationCore.ts';
import type {
  AuthorizationCore,
  AuthorizationServer,
  AuthorizationServerOptions,
  AuthorizationSwitches,
  GrantRequest,
} from './authorizationServerTypes.ts';

const CONTROL = '/control';

/** An authorization server over real HTTP on a free port of 127.0.0.1 that does what a test tells it. */
export async function startAuthorizationServer(
  options: AuthorizationServerOptions = {},
): Promise<AuthorizationServer> {
  let listeningAt = '';
  const core = createAuthorizationCore(() => options.publicOrigin ?? listeningAt, options);

  async function handleRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of incoming.setEncoding('utf8')) text += String(chunk);
    const { method: verb = '', url: path = '', headers } = incoming;
    if (path === CONTROL) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(executeControl(core, verb === 'POST' ? text : '{}')));
    } else if (!(await core.handle({ verb, path, headers, text }, response))) {
      response.writeHead(404).end();
    }
  }

  const listener = (incoming: IncomingMessage, response: ServerResponse) => {
    // A client that hangs up in the middle of its own request is no fault of the script.
    handleRequest(incoming, response).catch(() => response.destroy());
  };
  const http = options.tls ? createSecureServer(options.tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  listeningAt = `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`;

  return Object.defineProperties({} as AuthorizationServer, {
    ...Object.getOwnPropertyDescriptors(core),
    origin: { value: listeningAt },
    port: { value: port },
    controlUrl: { value: `${listeningAt}${CONTROL}` },
    close: {
      value: async () => {
        if (!http.listening) return;
        http.closeAllConnections();
        await new Promise((resolve) => http.close(resolve));
      },
    },
  });
}

interface ControlCommand {
  readonly change?: Partial<AuthorizationSwitches>;
  readonly reset?: boolean;
  readonly grant?: GrantRequest;
}

/** What another process may read and set. */
function executeControl(core: AuthorizationCore, text: string): unknown {
  const { change, reset, grant } = JSON.parse(text) as ControlCommand;
  if (reset === true) core.reset();
  if (change) core.change(change);
  const granted = grant && core.grant(grant);
  return { counters: core.counters, requests: core.requests, granted };
}
