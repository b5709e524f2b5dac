import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission } from './authentication.ts';
import type { ProblemResponse } from './errors.ts';
import { callerDisconnect, readJsonBody } from './request.ts';
import type { FastRoute } from './route.ts';
import { apiHeaders } from './securityHeaders.ts';

interface FastRouterParts {
  routes: readonly FastRoute[];
  admission: Admission;
  headers: Readonly<Record<string, string>>;
  problemOf: (error: unknown, req: IncomingMessage) => ProblemResponse;
}

/** Takes a request if it is for a hot route, and says so. What it does not take goes to the framework. */
type FastRouter = (req: IncomingMessage, res: ServerResponse) => boolean;

/**
 * Express alone halves the rate of tool calls, so the hottest routes run before it: with the same checks in the same
 * order, as plain functions.
 */
export function createFastRouter({ routes, admission, headers, problemOf }: FastRouterParts): FastRouter {
  const matchers = routes.map((route) => ({
    route,
    method: route.method.toUpperCase(),
    match: createMatchPath(route.path),
  }));
  const endBatched = createBatchedResponses();
  const prefixes = pathPrefixes(routes.map(({ path }) => path));
  // As a flat list: an object would be copied for each answer.
  const jsonHeaders = Object.entries({
    ...apiHeaders(headers),
    'Content-Type': 'application/json; charset=utf-8',
  }).flat();

  async function serve(
    route: FastRoute,
    params: Readonly<Record<string, string>>,
    query: string,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    try {
      admission.check(req);
      if (route.isTokenOnly) admission.checkOrigin(req);
      const authenticated = admission.authenticate(req, route);
      const caller = authenticated instanceof Promise ? await authenticated : authenticated;
      const body = await readJsonBody(req);
      await route.handleFast({
        req,
        res,
        caller,
        params,
        query,
        body,
        signal: callerDisconnect(res),
        json(status, text, extra = []) {
          const length = String(Buffer.byteLength(text));
          res.writeHead(status, [...jsonHeaders, ...extra, 'Content-Length', length]);
          endBatched(res, text);
        },
      });
    } catch (error) {
      sendError(route, req, res, error);
    }
  }

  function sendError(route: FastRoute, req: IncomingMessage, res: ServerResponse, error: unknown): void {
    if (res.destroyed) return;
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const { problem, headers: problemHeaders } = problemOf(error, req);
    const text = route.formatError ? route.formatError(problem, error) : JSON.stringify(problem);
    res.writeHead(problem.status, {
      ...apiHeaders(headers),
      ...problemHeaders,
      'Content-Type': `application/${route.formatError ? 'json' : 'problem+json'}; charset=utf-8`,
      'Content-Length': Buffer.byteLength(text),
      // What is still being sent is read by nobody: the connection ends with the answer.
      ...(!req.complete && { Connection: 'close' }),
    });
    res.end(text);
  }

  return (req, res) => {
    const url = req.url ?? '/';
    const queryStart = url.indexOf('?');
    const path = queryStart === -1 ? url : url.slice(0, queryStart);
    if (!prefixes.some((prefix) => path.startsWith(prefix))) return false;
    const segments = segmentsOf(path);
    for (const { route, method, match } of matchers) {
      if (req.method !== method) continue;
      const params = match(segments);
      if (params === null) continue;
      void serve(route, params, queryStart === -1 ? '' : url.slice(queryStart + 1), req, res);
      return true;
    }
    return false;
  };
}

/** What hot routes begin with: most other requests are told apart by it. */
function pathPrefixes(paths: readonly string[]): readonly string[] {
  const staticPrefixes = [...new Set(paths.map((path) => path.replace(/\/?:.*$/, '')))];
  return staticPrefixes.filter(
    (path) => !staticPrefixes.some((other) => other !== path && path.startsWith(other)),
  );
}

/** Reads a path such as `/api/mcp/servers/:serverName/tools` as Express does, for routes that do without it. */
type MatchPath = (segments: readonly string[]) => Readonly<Record<string, string>> | null;

/** The segments of a path. Express takes one slash at the end for none. */
export function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/');
  if (segments.length > 2 && segments.at(-1) === '') segments.pop();
  return segments;
}

export function createMatchPath(pattern: string): MatchPath {
  const patternSegments = pattern.split('/');
  const literals = patternSegments.flatMap((text, index) => (text.startsWith(':') ? [] : [{ text, index }]));
  const variables = patternSegments.flatMap((text, index) =>
    text.startsWith(':') ? [{ name: text.slice(1), index }] : [],
  );
  return (segments) => {
    if (segments.length !== patternSegments.length) return null;
    for (const { text, index } of literals) if (segments[index] !== text) return null;
    const params: Record<string, string> = {};
    for (const { name, index } of variables) {
      const value = decode(segments[index] ?? '');
      if (value === null) return null;
      params[name] = value;
    }
    return params;
  };
}

function decode(value: string): string | null {
  if (value === '') return null;
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}

/**
 * Ends answers together, when all that came in with this turn of the loop has been looked at: requests to servers go out
 * before them, and whoever waits for several is woken once. Each wake-up costs about as much as a call's own work.
 */
type EndBatched = (res: ServerResponse, text: string) => void;

export function createBatchedResponses(): EndBatched {
  let pending: [res: ServerResponse, text: string][] = [];
  function flush(): void {
    const batch = pending;
    pending = [];
    for (const [res, text] of batch) end(res, text);
  }
  return (res, text) => {
    if (pending.push([res, text]) === 1) setImmediate(flush);
  };
}

function end(res: ServerResponse, text: string): void {
  try {
    res.end(text);
  } catch {
    // The others have to be answered all the same.
    res.destroy();
  }
}
