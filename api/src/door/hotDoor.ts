import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HotRoute } from '../http.ts';
import { callerLeaving } from '../middleware/whenCallerLeaves.ts';
import type { Answer } from '../middleware/problem.ts';
import type { Admission } from './admission.ts';
import { createEndOfTurn } from './endOfTurn.ts';
import { createMatchPath, segmentsOf } from './matchPath.ts';
import { readJsonBody } from './readJsonBody.ts';
import { apiHeaders } from './securityHeaders.ts';

export interface HotDoorParts {
  routes: readonly HotRoute[];
  admission: Admission;
  headers: Readonly<Record<string, string>>;
  problemOf: (error: unknown, req: IncomingMessage) => Answer;
}

/** Takes a request if it is for a hot route, and says so. What it does not take goes to the framework. */
export type HotDoor = (req: IncomingMessage, res: ServerResponse) => boolean;

/**
 * Express alone halves the rate of tool calls, so the hottest routes run before it: with the same checks in the same
 * order, as plain functions.
 */
export function createHotDoor({ routes, admission, headers, problemOf }: HotDoorParts): HotDoor {
  const doors = routes.map((route) => ({
    route,
    method: route.method.toUpperCase(),
    match: createMatchPath(route.path),
  }));
  const endOfTurn = createEndOfTurn();
  const prefixes = beginnings(routes.map(({ path }) => path));
  // As a flat list: an object would be copied for each answer.
  const jsonHeaders = Object.entries({
    ...apiHeaders(headers),
    'Content-Type': 'application/json; charset=utf-8',
  }).flat();

  async function serve(
    route: HotRoute,
    params: Readonly<Record<string, string>>,
    query: string,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    try {
      admission.check(req);
      if (route.programs) admission.checkProgram(req);
      const known = admission.authenticate(req, route);
      const caller = known instanceof Promise ? await known : known;
      const body = await readJsonBody(req);
      await route.hot({
        req,
        res,
        caller,
        params,
        query,
        body,
        signal: callerLeaving(res),
        json(status, text, extra = []) {
          const length = String(Buffer.byteLength(text));
          res.writeHead(status, [...jsonHeaders, ...extra, 'Content-Length', length]);
          endOfTurn(res, text);
        },
      });
    } catch (error) {
      refuse(route, req, res, error);
    }
  }

  function refuse(route: HotRoute, req: IncomingMessage, res: ServerResponse, error: unknown): void {
    if (res.destroyed) return;
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const { problem, headers: own } = problemOf(error, req);
    const text = route.refusal ? route.refusal(problem, error) : JSON.stringify(problem);
    res.writeHead(problem.status, {
      ...apiHeaders(headers),
      ...own,
      'Content-Type': `application/${route.refusal ? 'json' : 'problem+json'}; charset=utf-8`,
      'Content-Length': Buffer.byteLength(text),
      // What is still being sent is read by nobody: the connection ends with the answer.
      ...(!req.complete && { Connection: 'close' }),
    });
    res.end(text);
  }

  return (req, res) => {
    const url = req.url ?? '/';
    const cut = url.indexOf('?');
    const path = cut === -1 ? url : url.slice(0, cut);
    if (!prefixes.some((prefix) => path.startsWith(prefix))) return false;
    const segments = segmentsOf(path);
    for (const { route, method, match } of doors) {
      if (req.method !== method) continue;
      const params = match(segments);
      if (params === null) continue;
      void serve(route, params, cut === -1 ? '' : url.slice(cut + 1), req, res);
      return true;
    }
    return false;
  };
}

/** What hot routes begin with: most other requests are told apart by it. */
function beginnings(paths: readonly string[]): readonly string[] {
  const fixed = [...new Set(paths.map((path) => path.replace(/\/?:.*$/, '')))];
  return fixed.filter((path) => !fixed.some((other) => other !== path && path.startsWith(other)));
}
