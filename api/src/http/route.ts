import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiKeyScope, Problem } from '@behalf/contracts';
import type { Principal, UserPrincipal } from '@behalf/gateway';
import type { Cancellation } from '@behalf/kernel';
import type { Request, Response } from 'express';

/**
 * The callers that a route accepts. `public`: anyone, without authentication; `caller`: users and service principals;
 * `signed-in`: users; `admin`: users with the role ADMIN.
 */
export type RouteAccess = 'public' | 'caller' | 'signed-in' | 'admin';

/** The scope an API key needs for the route. `none`: API keys are refused, the caller needs a browser session. */
export type RouteScope = ApiKeyScope | 'none';

interface RouteBase {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  readonly path: string;
  /** Accepts requests from pages of `mcpSettings.endpoint.allowedOrigins` (CORS). Their session cookie is ignored. */
  readonly allowsCrossOrigin?: true;
}

interface PublicRoute extends RouteBase {
  readonly access: 'public';
  /** The handler reads the body itself; no body parser runs. */
  readonly raw?: true;
  handle(req: Request, res: Response): unknown;
}

/** Only authenticated routes pass a `caller`, so a handler that needs one does not compile as a public route. */
interface CallerRoute extends RouteBase {
  readonly access: 'caller';
  readonly scope: RouteScope;
  handle(req: Request, res: Response, caller: Principal): unknown;
}

interface SignedInRoute extends RouteBase {
  readonly access: 'signed-in' | 'admin';
  readonly scope: RouteScope;
  handle(req: Request, res: Response, caller: UserPrincipal): unknown;
}

/** A request on the hot path. It bypasses Express, which would cost more than the rest of the call. */
export interface FastExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly caller: Principal;
  /** The named segments of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The query string without the question mark, not parsed. */
  readonly query: string;
  /** The parsed JSON body; undefined if the request has none. */
  readonly body: unknown;
  /** Aborts when the client disconnects before the response is complete. */
  readonly signal: Cancellation;
  /** Sends serialized JSON. `extra`: further headers as a flat list of names and values. */
  readonly json: (status: number, text: string, extra?: readonly string[]) => void;
}

export interface FastRoute extends RouteBase {
  readonly access: 'caller';
  readonly scope: RouteScope;
  /** Requires an `Authorization` header. Cookies are ignored, and a foreign `Origin` is refused. */
  readonly isTokenOnly?: true;
  /** Serializes an error for clients that do not read problem documents, for example as a JSON-RPC error. */
  readonly formatError?: (problem: Problem, error: unknown) => string;
  readonly handleFast: (exchange: FastExchange) => Promise<void>;
}

export type ExpressRoute = PublicRoute | CallerRoute | SignedInRoute;

/** `compose/routes.ts` lists all routes. Both kinds pass the same checks before the handler runs. */
export type Route = ExpressRoute | FastRoute;

export function isFastRoute(route: Route): route is FastRoute {
  return 'handleFast' in route;
}

/** The named segments of a path such as `/api/mcp/:serverName/credentials/:label`. */
type PathParamNames<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | PathParamNames<`/${Tail}`>
    : Rest
  : never;

/** An Express request with the path parameters of its route. */
type RouteRequest<Path extends string> = Request<Record<PathParamNames<Path>, string>>;
type Handler<Path extends string, Caller> = (
  req: RouteRequest<Path>,
  res: Response,
  caller: Caller,
) => unknown;

export function publicRoute<const Path extends string>(
  method: RouteBase['method'],
  path: Path,
  handle: (req: RouteRequest<Path>, res: Response) => unknown,
  options: Pick<PublicRoute, 'raw' | 'allowsCrossOrigin'> = {},
): PublicRoute {
  return { method, path, access: 'public', ...options, handle: handle as PublicRoute['handle'] };
}

export function callerRoute<const Path extends string>(
  method: RouteBase['method'],
  path: Path,
  scope: RouteScope,
  handle: Handler<Path, Principal>,
): CallerRoute {
  return { method, path, access: 'caller', scope, handle: handle as CallerRoute['handle'] };
}

export function signedInRoute<const Path extends string>(
  method: RouteBase['method'],
  path: Path,
  scope: RouteScope,
  handle: Handler<Path, UserPrincipal>,
): SignedInRoute {
  return { method, path, access: 'signed-in', scope, handle: handle as SignedInRoute['handle'] };
}

/** A route for administrators. An API key needs the scope `admin`. */
export function adminRoute<const Path extends string>(
  method: RouteBase['method'],
  path: Path,
  handle: Handler<Path, UserPrincipal>,
): SignedInRoute {
  return { method, path, access: 'admin', scope: 'admin', handle: handle as SignedInRoute['handle'] };
}
