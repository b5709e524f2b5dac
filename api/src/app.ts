import type { RequestListener } from 'node:http';
import { GatewayError, type Sessions } from '@behalf/gateway';
import type { Random } from '@behalf/kernel';
import express, { type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import type { SessionCookie } from './cookies.ts';
import type { Route } from './http.ts';
import type { Logger } from './logger.ts';
import { createCsrfCheck } from './middleware/csrf.ts';
import { createProblemMap } from './middleware/problem.ts';
import type { Origins } from './origins.ts';

export interface AppParts {
  routes: readonly Route[];
  sessions: Sessions;
  origins: () => Origins;
  cookie: () => SessionCookie;
  /** True once the store must not be written any more. */
  refusesWrites: () => boolean;
  trustProxy: number;
  random: Random;
  logger: Logger;
}

/** The request listener. It never listens itself. */
export function createApp(parts: AppParts): RequestListener {
  const { routes, sessions, origins, cookie, refusesWrites, trustProxy, random, logger } = parts;
  const problemOf = createProblemMap({ random, logger });
  const checkCsrf = createCsrfCheck(origins, cookie);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  app.set('query parser', 'simple');

  app.use(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          styleSrc: ["'self'"],
          imgSrc: ["'self'"],
          formAction: ["'self'"],
          frameAncestors: ["'none'"],
          baseUri: ["'none'"],
        },
      },
      // The setup link holds its secret in the address: no other site is told. Under `no-referrer` a browser would
      // also hide the origin of our own forms from us.
      referrerPolicy: { policy: 'same-origin' },
      strictTransportSecurity: origins().secure,
    }),
  );
  app.use((req, res, next) => {
    res.set('Cache-Control', 'no-store');
    if (!origins().acceptsHost(req.headers.host)) throw new GatewayError('HOST_REFUSED');
    checkCsrf(req);
    if (refusesWrites() && req.method !== 'GET') throw new GatewayError('SHUTTING_DOWN');
    next();
  });
  app.use(express.json({ limit: '1mb' }));
  app.use(express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 20 }));

  const methods = new Map<string, Set<string>>();
  for (const route of routes) {
    methods.set(route.path, (methods.get(route.path) ?? new Set()).add(route.method.toUpperCase()));
    app[route.method](route.path, async (req, res) => {
      if (route.access === 'public') return route.handle(req, res);
      const secret = cookie().read(req);
      const caller = secret === null ? null : await sessions.resolve(secret);
      if (!caller) throw new GatewayError('AUTH_REQUIRED');
      if (route.access === 'admin' && caller.role !== 'ADMIN') throw new GatewayError('FORBIDDEN');
      return route.handle(req, res, caller);
    });
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
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
    if (res.headersSent) return res.destroy();
    const { problem, headers } = problemOf(error);
    res.status(problem.status).set(headers).type('application/problem+json').send(JSON.stringify(problem));
  });
  return app;
}
