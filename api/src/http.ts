import type { UserPrincipal } from '@behalf/gateway';
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

/** One door of the gateway. compose.ts lists them all. */
export type Route = PublicRoute | SignedInRoute;
