import type { IncomingMessage, RequestListener } from 'node:http';
import { GatewayError } from '@behalf/gateway';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import type { Admission } from './http/admission.ts';
import { createFastRouter } from './http/fastRouter.ts';
import { isFastRoute, type ExpressRoute, type Route } from './http/routes.ts';
import type { ProblemResponse } from './middleware/problem.ts';

export interface AppParts {
  routes: readonly Route[];
  admission: Admission;
  /** Of every answer. */
  headers: Readonly<Record<string, string>>;
  problemOf: (error: unknown, req: IncomingMessage) => ProblemResponse;
  trustProxy: number;
}

/** The request listener. It never listens itself. */
export function createApp(parts: AppParts): RequestListener {
  const { routes, admission, headers, problemOf, trustProxy } = parts;
  const handleFast = createFastRouter({ routes: routes.filter(isFastRoute), admission, headers, problemOf });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  app.set('query parser', 'simple');
  // The hot door compares letter by letter; so does everything else.
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
  // Express knows an error handler by its four parameters.
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    // There is nobody to tell, and leaving is no incident.
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

  async function dispatch(route: ExpressRoute, req: Request, res: Response): Promise<void> {
    if (route.access === 'public') return route.handle(req, res);
    const caller = await admission.authenticate(req, route);
    if (route.access === 'caller') return route.handle(req, res, caller);
    // Nothing but a user gets past the other kinds; said again because what follows acts in a user's name.
    if (caller.kind !== 'user') throw new GatewayError('FORBIDDEN');
    return route.handle(req, res, caller);
  }

  return (req, res) => {
    if (!handleFast(req, res)) app(req, res);
  };
}
