import type { IncomingMessage, ServerResponse } from 'node:http';
import type { UserPrincipal } from '@behalf/gateway';
import type { Cancellation } from '@behalf/kernel';
import type { Request, Response } from 'express';

/** Who may enter. Signing in is the least a route asks for, unless it is listed as public. */
export type RouteAccess = 'public' | 'signed-in' | 'admin';

interface RouteBase {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  readonly path: string;
}

interface PublicRoute extends RouteBase {
  readonly access: 'public';
  handle(req: Request, res: Response): Promise<void> | void;
}

interface SignedInRoute extends RouteBase {
  readonly access: Exclude<RouteAccess, 'public'>;
  /** Cannot be called without a caller: forgetting to authenticate does not compile. */
  handle(req: Request, res: Response, caller: UserPrincipal): Promise<void> | void;
}

/** A request on the hot path: no framework in between, which would cost more than all the rest. */
export interface HotExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly caller: UserPrincipal;
  /** The named segments of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** What stands behind the question mark, unread. */
  readonly query: string;
  /** The JSON body; undefined when there is none. */
  readonly body: unknown;
  /** Aborts when the caller leaves before the answer. */
  readonly signal: Cancellation;
  /** Answers with JSON that is already text. */
  readonly json: (status: number, text: string) => void;
}

export interface HotRoute extends RouteBase {
  readonly access: 'signed-in';
  readonly hot: (exchange: HotExchange) => Promise<void>;
}

export type ExpressRoute = PublicRoute | SignedInRoute;

/** One door of the gateway. compose.ts lists them all; the checks before them are the same for both kinds. */
export type Route = ExpressRoute | HotRoute;

export function isHot(route: Route): route is HotRoute {
  return 'hot' in route;
}
