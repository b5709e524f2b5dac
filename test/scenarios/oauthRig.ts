import {
  guardedMcpServer,
  startAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type GuardedMcpServer,
} from '@behalf/testkit';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createUsers, type TestUser } from './users.ts';
import { httpDefinition } from './serverYaml.ts';

export interface OAuthRig {
  readonly as: AuthorizationServer;
  readonly mcp: GuardedMcpServer;
  readonly gateway: InProcessGateway;
  /** Another one over the same store, as people reach it by the same address. */
  startReplica(): Promise<InProcessGateway>;
  readonly ada: TestUser;
  readonly bob: TestUser;
  readonly admin: TestUser;
  close(): Promise<void>;
}

/** A gateway, a server `files` where users sign in, and who signs them in. */
export async function createOAuthRig(
  authorization: AuthorizationServerOptions = {},
  env: Record<string, string> = {},
): Promise<OAuthRig> {
  const as = await startAuthorizationServer(authorization);
  const mcp = await guardedMcpServer({ authorizationServer: as, era: 'both', tools: [{ name: 'echo' }] });
  const yaml = JSON.stringify({
    mcpSettings: {
      operatorAddresses: [new URL(as.issuer).host, new URL(mcp.url).host],
      issuers: { [as.issuer]: {} },
    },
    mcpServers: { files: httpDefinition(mcp.url, { requiresOAuth: true }) },
  });
  const gateway = await startInProcess({ RATE_LIMIT_WRITES: '100000', ...env }, yaml);
  const [ada, bob, admin] = await createUsers(gateway, ['Ada', 'Bob', { name: 'Root', role: 'ADMIN' }]);
  if (!ada || !bob || !admin) throw new Error('Nobody is here');
  return {
    ...{ as, mcp, gateway, ada, bob, admin },
    startReplica() {
      const publicUrl = `http://localhost:${new URL(gateway.url).port}`;
      return startInProcess({ ...env, BEHALF_DATA_DIR: gateway.dataDir, PUBLIC_URL: publicUrl }, yaml);
    },
    async close() {
      await gateway.close();
      await mcp.close();
      await as.close();
    },
  };
}

/** One browser: keeps its cookies, and follows nothing by itself. */
export class GatewayBrowser {
  readonly #jar: Map<string, string>;
  readonly #base: string;
  constructor(base: string, user?: TestUser, cookies = new Map<string, string>()) {
    this.#base = base;
    this.#jar = cookies;
    if (user) this.#keep(user.cookie);
  }

  /** The same browser, led to another replica. */
  withBase(base: string): GatewayBrowser {
    return new GatewayBrowser(base, undefined, this.#jar);
  }

  get cookies(): readonly string[] {
    return [...this.#jar.keys()];
  }

  async open(publicUrl: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(publicUrl, this.#base);
    // The gateway calls itself localhost; here it is reached by address.
    if (url.hostname === 'localhost') url.hostname = '127.0.0.1';
    const isGatewayOrigin = url.origin === this.#base;
    const cookie = [...this.#jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = {
      accept: 'text/html',
      ...(isGatewayOrigin && { cookie }),
      ...(init.headers as Record<string, string>),
    };
    const response = await fetch(url, { redirect: 'manual', ...init, headers });
    if (isGatewayOrigin) for (const setCookie of response.headers.getSetCookie()) this.#keep(setCookie);
    return response;
  }

  /** As our own page does: JSON, from our own origin. */
  post(path: string, body: unknown = {}): Promise<Response> {
    const headers = { accept: 'application/json', 'content-type': 'application/json', 'x-behalf-csrf': '1' };
    return this.open(path, { method: 'POST', body: JSON.stringify(body), headers });
  }

  /** As a form on a page of this origin does. */
  submitForm(path: string, fields: Record<string, string>, origin = this.#base): Promise<Response> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin };
    return this.open(path, { method: 'POST', body: new URLSearchParams(fields).toString(), headers });
  }

  #keep(setCookie: string): void {
    const [pair = ''] = setCookie.split(';');
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    if (/Max-Age=0/.test(setCookie)) this.#jar.delete(name);
    else this.#jar.set(name, value);
  }
}

/** Where an answer leads. */
export function readLocation(response: Response): URL {
  return new URL(response.headers.get('location') ?? 'about:blank', 'http://nowhere.invalid');
}
