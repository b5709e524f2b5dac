import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Route } from '../http.ts';
import { createMatchPath, segmentsOf } from './matchPath.ts';

export interface GuestPagesParts {
  readonly routes: readonly Route[];
  /** Whether the operator lets pages of this very origin in. */
  readonly isAllowed: (origin: string) => boolean;
  /** Every request that is not answered here. */
  readonly serve: RequestListener;
}

/** What a client reads of an answer besides its body. */
const EXPOSED = 'Mcp-Session-Id, WWW-Authenticate, Retry-After';
/** What a client sends. Nothing that makes a request one of our own pages. */
const TAKEN = /^(authorization|content-type|accept|last-event-id|mcp-[\w!#$%&'*+.^`|~-]+)$/;
const PREFLIGHT_SECONDS = '600';

/**
 * Lets pages of allowed origins use the routes that are open to them (CORS), and those alone. From here on such a page is a program: its
 * cookies and its origin are taken off the request, so that nothing but the token it presents can count, and no check
 * behind this one has an exception for it.
 */
export function createGuestPages({ routes, isAllowed, serve }: GuestPagesParts): RequestListener {
  const open = new Map<string, { match: ReturnType<typeof createMatchPath>; methods: string[] }>();
  for (const { path, method, guests } of routes) {
    if (!guests) continue;
    const entry = open.get(path) ?? { match: createMatchPath(path), methods: [] };
    entry.methods.push(method.toUpperCase());
    open.set(path, entry);
  }

  function methodsAt(url: string): readonly string[] | undefined {
    const cut = url.indexOf('?');
    const segments = segmentsOf(cut === -1 ? url : url.slice(0, cut));
    for (const { match, methods } of open.values()) if (match(segments)) return methods;
    return undefined;
  }

  /** True: it is answered. */
  function receive(req: IncomingMessage, res: ServerResponse, origin: string): boolean {
    const methods = isAllowed(origin) ? methodsAt(req.url ?? '/') : undefined;
    if (!methods) return false;
    res.setHeader('Access-Control-Allow-Origin', origin);
    res.setHeader('Vary', 'Origin');
    if (req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined) {
      const wanted = (req.headers['access-control-request-headers'] ?? '').toLowerCase().split(',');
      res.writeHead(204, {
        'Access-Control-Allow-Methods': methods.join(', '),
        'Access-Control-Allow-Headers': wanted
          .map((name) => name.trim())
          .filter((name) => TAKEN.test(name))
          .join(', '),
        'Access-Control-Max-Age': PREFLIGHT_SECONDS,
      });
      res.end();
      return true;
    }
    res.setHeader('Access-Control-Expose-Headers', EXPOSED);
    delete req.headers.origin;
    delete req.headers.cookie;
    return false;
  }

  return (req, res) => {
    const { origin } = req.headers;
    if (origin !== undefined && receive(req, res, origin)) return;
    serve(req, res);
  };
}
