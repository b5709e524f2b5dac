import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { systemClock, systemRandom, type Clock, type Random } from '@behalf/kernel';
import { assertDevelopment } from '../assertDevelopment.ts';
import { closeListener, createListener, startListening } from '../listener.ts';
import type { DevAuthority } from '../tls/devAuthority.ts';
import { createCredentialLog, type CredentialLog } from './credentialLog.ts';
import { createTokenGuard, type GuardState, type IssuerKeySource } from './tokenGuard.ts';
import { createSampleSessions } from './sampleSessions.ts';

export interface SampleServerOptions {
  /** True where NODE_ENV says so: nothing starts then. */
  isProduction: boolean;
  /** Whose tokens it takes: a `DevIdp`. */
  idp: IssuerKeySource;
  /** `aud` of the tokens for it. */
  audience: string;
  /** Each must be in the token. */
  scopes?: readonly string[];
  name?: string;
  /** 0 or absent: any free one. */
  port?: number;
  /** A loopback address. */
  host?: string;
  https?: { ca: DevAuthority };
  clock?: Clock;
  random?: Random;
  onError?: (error: unknown) => void;
}

/** An MCP server that wants a token for itself and says whose it saw. For tests and demos. */
export interface SampleServer {
  readonly url: string;
  readonly origin: string;
  /** Every `Authorization` that came, good or bad. */
  readonly credentials: CredentialLog;
  /** Tool calls that ran. */
  readonly callCount: number;
  readonly sessionCount: number;
  /** GET streams that are open. */
  readonly streamCount: number;
  /** Refuses the next tokens, good as they are; all of them if nothing is said. */
  rejectTokens(times?: number): void;
  /** Wants more of a token than it has (`insufficient_claims`); undefined ends it. JSON of a challenge. */
  requireClaims(challenge: string | undefined): void;
  /** As before the last two. */
  acceptTokens(): void;
  /** Forgets every session, as a restart does. */
  dropSessions(): Promise<void>;
  /** Tells every session that the list of tools changed. */
  notifyToolsChanged(): Promise<void>;
  close(): Promise<void>;
}

const METADATA_PATH = '/.well-known/oauth-protected-resource';
const MCP_PATH = '/mcp';

export async function createSampleServer(options: SampleServerOptions): Promise<SampleServer> {
  const { isProduction, idp, audience, scopes = [], name = 'sample', port = 0, host = '127.0.0.1' } = options;
  assertDevelopment({ isProduction, host });
  const { clock = systemClock, random = systemRandom, onError = () => undefined } = options;
  const state: GuardState = { remainingRejections: 0, requiredClaims: undefined };
  const guard = createTokenGuard({ idp, audience, scopes, clock }, state);
  const credentials = createCredentialLog();
  const sessions = createSampleSessions({ name, random });

  const server = createListener(await options.https?.ca.issue());
  const { origin, host: authority, port: listeningPort } = await startListening(server, port, host);
  const hosts = [authority, `localhost:${listeningPort}`];
  const metadata = `resource_metadata="${origin}${METADATA_PATH}${MCP_PATH}"`;

  async function handle(req: IncomingMessage & { auth?: AuthInfo }, res: ServerResponse): Promise<void> {
    const path = req.url?.split('?')[0];
    if (!hosts.includes(req.headers.host ?? '')) return void res.writeHead(421).end();
    if (path === METADATA_PATH || path === METADATA_PATH + MCP_PATH) {
      const resourceMetadata = {
        resource: origin + MCP_PATH,
        authorization_servers: idp.issuers,
        scopes_supported: scopes,
      };
      const body = JSON.stringify({ ...resourceMetadata, bearer_methods_supported: ['header'] });
      return void res.writeHead(200, { 'content-type': 'application/json' }).end(body);
    }
    if (path !== MCP_PATH) return void res.writeHead(404).end();
    const credential = credentials.add(req.headers.authorization, req.method ?? '');
    const result = await guard(req.headers.authorization);
    if ('status' in result) {
      const challenge = [result.challenge, metadata].filter((part) => part !== '').join(', ');
      return void res.writeHead(result.status, { 'www-authenticate': `Bearer ${challenge}` }).end();
    }
    credential.acceptedCount += 1;
    req.auth = result.auth;
    await sessions.handle(req, res, String(result.auth.extra?.sub));
  }
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    handle(req, res).catch((error: unknown) => {
      onError(error);
      if (!res.headersSent) res.writeHead(500);
      res.end();
    });
  });

  return {
    ...{ url: origin + MCP_PATH, origin, credentials: credentials.log },
    get callCount() {
      return sessions.calls();
    },
    get sessionCount() {
      return sessions.count();
    },
    get streamCount() {
      return sessions.streams();
    },
    rejectTokens: (times = Infinity) => void (state.remainingRejections = times),
    requireClaims: (challenge) => void (state.requiredClaims = challenge),
    acceptTokens() {
      state.remainingRejections = 0;
      state.requiredClaims = undefined;
    },
    dropSessions: () => sessions.closeAll(),
    notifyToolsChanged: () => sessions.notifyToolsChanged(),
    async close() {
      await sessions.closeAll();
      await closeListener(server);
    },
  };
}
