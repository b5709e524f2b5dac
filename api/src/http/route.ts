import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiKeyScope, Problem } from '@behalf/contracts';
import type { Principal, UserPrincipal } from '@behalf/gateway';
import type { Cancellation } from '@behalf/kernel';
import type { Request, Response } from 'express';

/**
 * Who may enter. `caller`: people and programs with a token of their own; `signed-in`: people; `admin`: people with the
 * role ADMIN. Whatever is not listed as public asks for one of them.
 */
export type RouteAccess = 'public' | 'caller' | 'signed-in' | 'admin';

/** Which scope an API key needs here; `none`: no key opens this door, only a sign-in does. */
export type RouteScope = ApiKeyScope | 'none';

interface RouteBase {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  readonly path: string;
  /** Open to pages of the origins that the operator allows. Such a page is a program there: no cookie of its user counts. */
  readonly allowsCrossOrigin?: true;
}

interface PublicRoute extends RouteBase {
  readonly access: 'public';
  /** Reads its body itself. */
  readonly raw?: true;
  handle(req: Request, res: Response): Promise<void> | void;
}

/** Cannot be called without a caller: forgetting to authenticate does not compile. */
interface CallerRoute extends RouteBase {
  readonly access: 'caller';
  readonly scope: RouteScope;
  handle(req: Request, res: Response, caller: Principal): Promise<void> | void;
}

interface SignedInRoute extends RouteBase {
  readonly access: 'signed-in' | 'admin';
  readonly scope: RouteScope;
  handle(req: Request, res: Response, caller: UserPrincipal): Promise<void> | void;
}

/** A request on the hot path: no framework in between, which would cost more than all the rest. */
export interface FastExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly caller: Principal;
  /** The named segments of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** What stands behind the question mark, unread. */
  readonly query: string;
  /** The JSON body; undefined when there is none. */
  readonly body: unknown;
  /** Aborts when the caller leaves before the answer. */
  readonly signal: Cancellation;
  /** Answers with JSON that is already text; `extra` are further headers, names and values in turn. */
  readonly json: (status: number, text: string, extra?: readonly string[]) => void;
}

export interface FastRoute extends RouteBase {
  readonly access: 'caller';
  readonly scope: RouteScope;
  /** For programs: a token or a key opens it, a cookie does not, and no page of another site may send it. */
  readonly isTokenOnly?: true;
  /** How a refusal is written, for callers that read no problem document: JSON text. */
  readonly formatError?: (problem: Problem, error: unknown) => string;
  readonly handleFast: (exchange: FastExchange) => Promise<void>;
}

export type ExpressRoute = PublicRoute | CallerRoute | SignedInRoute;

/** One door of the gateway. compose.ts lists them all; the checks before them are the same for both kinds. */
export type Route = ExpressRoute | FastRoute;

export function isFastRoute(route: Route): route is FastRoute {
  return 'handleFast' in route;
}
