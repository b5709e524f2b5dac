import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Route } from './routes.ts';
import { createMatchPath, segmentsOf } from './matchPath.ts';

export interface CorsParts {
  readonly routes: readonly Route[];
  /** Whether the operator lets pages of this very origin in. */
  readonly isAllowed: (origin: string) => boolean;
  /** Every request that is not answered here. */
  readonly next: RequestListener;
}

/** What a client reads of an answer besides its body. */
const EXPOSED_HEADERS = 'Mcp-Session-Id, WWW-Authenticate, Retry-After';
/** What a client sends. Nothing that makes a request one of our own pages. */
const ALLOWED_REQUEST_HEADERS = /^(authorization|content-type|accept|last-event-id|mcp-[\w!#$%&'*+.^`|~-]+)$/;
const PREFLIGHT_MAX_AGE = '600';

/**
 * Lets pages of allowed origins use the routes that are open to them (CORS), and those alone. From here on such a page is a program: its
 * cookies and its origin are taken off the request, so that nothing but the token it presents can count, and no check
 * behind this one has an exception for it.
 */
export function createCorsListener({ routes, isAllowed, next }: CorsParts): RequestListener {
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

  /** True: it is answered. */
  function handleCrossOrigin(req: IncomingMessage, res: ServerResponse, origin: string): boolean {
    const methods = isAllowed(origin) ? allowedMethods(req.url ?? '/') : undefined;
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
