import {
  RunResumeRequest,
  SetChange,
  SetCheckRequest,
  SetRequest,
  SetRunRequest,
  SetsQuery,
} from '@behalf/contracts';
import {
  GatewayError,
  type MeterStep,
  type Principal,
  type RunListener,
  type SetParts,
  type SetRuns,
  type StartedRun,
  type UserPrincipal,
  changeSet,
  checkSet,
  createSet,
  listSets,
  viewSet,
} from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import type { Request, Response } from 'express';
import type { ProblemResponse } from '../../http/errors.ts';
import { readIfMatch, sendVersioned } from '../../http/etag.ts';
import { type ObserveRequestParts, createObserveRequest, inboundOf } from '../../http/inbound.ts';
import type { InFlightLimiter, RateLimits } from '../../http/limits.ts';
import { parseBody, readBody } from '../../http/request.ts';
import { type Route, callerRoute, signedInRoute } from '../../http/route.ts';
import { createEventStream } from '../../http/sse.ts';
import { sharingRoutes } from './permissions.ts';
import { prefersEventStream } from './serverResponder.ts';

const PATH = '/api/mcp/sets';
const RUNS_PATH = '/api/mcp/runs';

/** Sets (ordered lists of blocks) and their runs. */
export function setRoutes(parts: SetParts, runParts: SetRunRouteParts): Route[] {
  return [
    signedInRoute('get', PATH, 'mcp', async (req, res, caller) =>
      res.json(await listSets(parts, caller, parseBody(req.query, SetsQuery))),
    ),
    signedInRoute('post', PATH, 'servers', async (req, res, caller) => {
      const view = await createSet(parts, caller, readBody(req, SetRequest));
      res.status(201).location(`${PATH}/${encodeURIComponent(view.id)}`);
      sendVersioned(res, view, view.version);
    }),
    signedInRoute('get', `${PATH}/:id`, 'mcp', async (req, res, caller) => {
      const view = await viewSet(parts, caller, req.params.id);
      sendVersioned(res, view, view.version);
    }),
    signedInRoute('patch', `${PATH}/:id`, 'servers', async (req, res, caller) => {
      const change = { ...readBody(req, SetChange), ...readIfMatch(req) };
      const view = await changeSet(parts, caller, req.params.id, change);
      sendVersioned(res, view, view.version);
    }),
    signedInRoute('delete', `${PATH}/:id`, 'servers', async (req, res, caller) => {
      await parts.sets.remove(caller, req.params.id, readIfMatch(req));
      res.status(204).end();
    }),
    ...setRunRoutes(parts, runParts),
    ...sharingRoutes({
      type: 'set',
      view: (caller, id) => parts.sets.viewSharing(caller, id),
      share: (caller, id, request) => parts.sets.share(caller, id, request),
    }),
  ];
}

interface SetRunRouteParts extends SendRunParts {
  readonly setRuns: SetRuns;
}

/** Runs of sets. A run is a job that only the user who started it can see and control. */
function setRunRoutes(parts: SetParts, routeParts: SetRunRouteParts): Route[] {
  const { setRuns } = routeParts;
  // A run continues after the client disconnects. The signal of the inbound only covers the checks before it.
  const runInbound = (req: Request, res: Response, caller: Principal) =>
    inboundOf(req, res, requireUser(caller));
  return [
    callerRoute('post', `${PATH}/:id/check`, 'mcp', async (req, res, caller) => {
      const input = readBody(req, SetCheckRequest);
      res.json(await checkSet(parts, runInbound(req, res, caller), req.params.id, input));
    }),
    callerRoute('post', `${PATH}/:id/run`, 'mcp', async (req, res, caller) => {
      const request = { ...readBody(req, SetRunRequest), ...readIfMatch(req) };
      const inbound = runInbound(req, res, caller);
      await sendRun(routeParts, req, res, (listener) =>
        setRuns.start(inbound, req.params.id, request, listener),
      );
    }),
    callerRoute('get', `${PATH}/:id/runs`, 'mcp', async (req, res, caller) =>
      res.json(await setRuns.list(requireUser(caller), req.params.id, parseBody(req.query, SetsQuery))),
    ),
    callerRoute('get', `${RUNS_PATH}/:runId`, 'mcp', async (req, res, caller) =>
      res.json(await setRuns.view(requireUser(caller), req.params.runId)),
    ),
    callerRoute('post', `${RUNS_PATH}/:runId/cancel`, 'mcp', async (req, res, caller) =>
      res.json(await setRuns.cancel(requireUser(caller), req.params.runId)),
    ),
    callerRoute('post', `${RUNS_PATH}/:runId/resume`, 'mcp', async (req, res, caller) => {
      const request = readBody(req, RunResumeRequest);
      const inbound = runInbound(req, res, caller);
      await sendRun(routeParts, req, res, (listener) =>
        setRuns.resume(inbound, req.params.runId, request, listener),
      );
    }),
  ];
}

/** A step of a run counts against the limits and in the metrics like a tool call. */
export function createStepMeter(
  parts: ObserveRequestParts & {
    readonly limits: Pick<RateLimits, 'consume'>;
    readonly inFlight: InFlightLimiter;
  },
): MeterStep {
  const { limits, inFlight } = parts;
  const observe = createObserveRequest(parts);
  return async ({ principal: caller, server, description: operation, signal }, work) => {
    limits.consume(caller, 'calls');
    inFlight.acquire(caller.userId);
    try {
      return await observe({ caller, door: 'rest', server, operation, signal }, work);
    } finally {
      inFlight.release(caller.userId);
    }
  };
}

/** A run belongs to a user, so service principals have none. */
function requireUser(caller: Principal): UserPrincipal {
  if (caller.kind !== 'user') throw new GatewayError('FORBIDDEN');
  return caller;
}

export interface SendRunParts {
  readonly clock: Clock;
  readonly headers: Readonly<Record<string, string>>;
  readonly problemOf: (error: unknown) => ProblemResponse;
}

/** Starts a run. Answers 202 with JSON at once, or with an event stream until the run ends. */
async function sendRun(
  { clock, headers, problemOf }: SendRunParts,
  req: Request,
  res: Response,
  startRun: (listener?: RunListener) => Promise<StartedRun>,
): Promise<void> {
  if (!prefersEventStream(req.headers.accept)) {
    const { view } = await startRun();
    res
      .status(202)
      .location(`${RUNS_PATH}/${encodeURIComponent(view.id)}`)
      .json(view);
    return;
  }
  // Steps can start before `startRun` resolves. Their events are held back until the `run` event is sent.
  const pendingEvents: (() => void)[] = [];
  const events = createEventStream(res, { clock, headers });
  const send = (event: string, data: unknown) => void events.send(event, data);
  let emit = (work: () => void): void => void pendingEvents.push(work);
  try {
    const { view, completion: ended } = await startRun({
      step: (step) => emit(() => send('step', step)),
      progress: (progress) => emit(() => events.sendIfReady('progress', progress)),
    });
    send('run', view);
    for (const work of pendingEvents) work();
    emit = (work) => work();
    events.end('result', JSON.stringify(await ended));
  } catch (error) {
    events.close();
    if (!events.isStarted) throw error;
    events.end('error', JSON.stringify(problemOf(error).problem));
  }
}
