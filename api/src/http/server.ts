import { once } from 'node:events';
import { type IncomingMessage, type RequestListener, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '@behalf/gateway';
import { type Clock, withTimeout } from '@behalf/kernel';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import type { Admission } from './authentication.ts';
import type { ProblemResponse } from './errors.ts';
import { type ExpressRoute, type Route, isFastRoute } from './route.ts';
import { createFastRouter, createMatchPath, segmentsOf } from './router.ts';

export interface RunningHttpServer {
  readonly port: number;
  /** Accepts no new connections, waits up to `graceMs` for requests in flight, then closes all connections. */
  stop(graceMs: number): Promise<void>;
}

const CLOSE_IDLE_INTERVAL_MS = 50;

export async function openHttpServer(
  listener: RequestListener,
  { host, port, clock }: { host: string; port: number; clock: Clock },
): Promise<RunningHttpServer> {
  const server = createServer(
    // Slow clients must not hold a connection for minutes (slowloris).
    { requestTimeout: 60_000, headersTimeout: 15_000, keepAliveTimeout: 65_000 },
    listener,
  );
  server.listen(port, host.replace(/^\[|\]$/g, ''));
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop(graceMs) {
      let isClosing = true;
      const closed = once(server, 'close').then(() => {
        isClosing = false;
      });
      server.close();
      // A keep-alive connection stays open after its last response, so idle connections are closed repeatedly.
      const closeIdle = () => {
        server.closeIdleConnections();
        if (isClosing) clock.timer(CLOSE_IDLE_INTERVAL_MS, closeIdle);
      };
      closeIdle();
      await withTimeout(clock, graceMs, closed, () => undefined);
      server.closeAllConnections();
      await closed;
    },
  };
}

export interface AppParts {
  routes: readonly Route[];
  admission: Admission;
  /** Headers of every response. */
  headers: Readonly<Record<string, string>>;
  problemOf: (error: unknown, req: IncomingMessage) => ProblemResponse;
  trustProxy: number;
}

/** Creates the request listener: fast routes first, then Express. */
export function createApp(parts: AppParts): RequestListener {
  const { routes, admission, headers, problemOf, trustProxy } = parts;
  const handleFast = createFastRouter({ routes: routes.filter(isFastRoute), admission, headers, problemOf });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  app.set('query parser', 'simple');
  // Fast routes are case-sensitive, so Express routes are as well.
  app.enable('case sensitive routing');
  app.use((req, res, next) => {
    res.set(headers);
    admission.check(req);
    next();
  });
  const rawPaths = new Set(routes.flatMap((route) => ('raw' in route ? [route.path] : [])));
  const unlessRaw = (parser: RequestHandler): RequestHandler => {
    return (req, res, next) => (rawPaths.has(req.path) ? next() : parser(req, res, next));
  };
  app.use(
    unlessRaw(express.json({ limit: '1mb', type: ['application/json', 'application/merge-patch+json'] })),
  );
  app.use(unlessRaw(express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 20 })));

  const methods = new Map<string, Set<string>>();
  for (const route of routes) {
    methods.set(route.path, (methods.get(route.path) ?? new Set()).add(route.method.toUpperCase()));
    if (isFastRoute(route)) continue;
    app[route.method](route.path, (req, res) => dispatch(route, req, res));
  }
  for (const [path, allowed] of methods) {
    app.all(path, (_req, res) => {
      res.set('Allow', [...allowed].join(', '));
      throw new GatewayError('METHOD_NOT_ALLOWED');
    });
  }
  app.use(() => {
    throw new GatewayError('NOT_FOUND');
  });
  // Express recognizes an error handler by its four parameters.
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    // The client disconnected.
    if (res.destroyed) return;
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const { problem, headers: problemHeaders } = problemOf(error, req);
    res
      .status(problem.status)
      .set(problemHeaders)
      .type('application/problem+json')
      .send(JSON.stringify(problem));
  });

  async function dispatch(route: ExpressRoute, req: Request, res: Response): Promise<unknown> {
    if (route.access === 'public') return route.handle(req, res);
    const caller = await admission.authenticate(req, route);
    if (route.access === 'caller') return route.handle(req, res, caller);
    // Admission already refuses other callers. This check narrows the type and guards against an error there.
    if (caller.kind !== 'user') throw new GatewayError('FORBIDDEN');
    return route.handle(req, res, caller);
  }

  return (req, res) => {
    if (!handleFast(req, res)) app(req, res);
  };
}

export interface CorsParts {
  readonly routes: readonly Route[];
  readonly allowedOrigins: () => ReadonlySet<string>;
  /** Handles every request that is not answered here. */
  readonly next: RequestListener;
}

/** The response headers that a page can read. */
const EXPOSED_HEADERS = 'Mcp-Session-Id, WWW-Authenticate, Retry-After';
/** The request headers that a page can send. The CSRF header is not among them. */
const ALLOWED_REQUEST_HEADERS = /^(authorization|content-type|accept|last-event-id|mcp-[\w!#$%&'*+.^`|~-]+)$/;
const PREFLIGHT_MAX_AGE = '600';

/**
 * CORS for pages of allowed origins, on the routes that are open to them. The cookie and the `Origin` of such a request are
 * removed, so that only its token counts and later checks need no exception for CORS.
 */
export function createCorsListener({ routes, allowedOrigins, next }: CorsParts): RequestListener {
  const allowedRoutes = new Map<string, { match: ReturnType<typeof createMatchPath>; methods: string[] }>();
  for (const { path, method, allowsCrossOrigin } of routes) {
    if (!allowsCrossOrigin) continue;
    const entry = allowedRoutes.get(path) ?? { match: createMatchPath(path), methods: [] };
    entry.methods.push(method.toUpperCase());
    allowedRoutes.set(path, entry);
  }

  function allowedMethods(url: string): readonly string[] | undefined {
    const queryStart = url.indexOf('?');
    const segments = segmentsOf(queryStart === -1 ? url : url.slice(0, queryStart));
    for (const { match, methods } of allowedRoutes.values()) if (match(segments)) return methods;
    return undefined;
  }

  /** Returns true if the response was sent. */
  function handleCrossOrigin(req: IncomingMessage, res: ServerResponse, origin: string): boolean {
    const methods = allowedOrigins().has(origin) ? allowedMethods(req.url ?? '/') : undefined;
    if (!methods) return false;
    res.setHeader('Access-Control-Allow-Origin', origin);
    res.setHeader('Vary', 'Origin');
    if (req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined) {
      const requestedHeaders = (req.headers['access-control-request-headers'] ?? '').toLowerCase().split(',');
      res.writeHead(204, {
        'Access-Control-Allow-Methods': methods.join(', '),
        'Access-Control-Allow-Headers': requestedHeaders
          .map((name) => name.trim())
          .filter((name) => ALLOWED_REQUEST_HEADERS.test(name))
          .join(', '),
        'Access-Control-Max-Age': PREFLIGHT_MAX_AGE,
      });
      res.end();
      return true;
    }
    res.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
    delete req.headers.origin;
    delete req.headers.cookie;
    return false;
  }

  return (req, res) => {
    const { origin } = req.headers;
    if (origin !== undefined && handleCrossOrigin(req, res, origin)) return;
    next(req, res);
  };
}
