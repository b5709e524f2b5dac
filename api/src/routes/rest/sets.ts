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
  type Principal,
  type RunInbound,
  type RunListener,
  type RunSetParts,
  type SaveSetParts,
  type SetRuns,
  type StartedRun,
  type UserPrincipal,
  changeSet,
  checkSet,
  createSet,
  getSavedSharing,
  getSetCollection,
  listSets,
  removeSet,
  shareSaved,
  toEtag,
  viewSet,
} from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import type { Request, Response } from 'express';
import type { ProblemResponse as ProblemAnswer } from '../../http/errors.ts';
import { createDisconnectSignal, parseBody, readBody, readIfMatch } from '../../http/request.ts';
import type { Route } from '../../http/route.ts';
import { createEventStream } from '../../http/sse.ts';
import { sharingRoutes } from './permissions.ts';
import { createRestInbound, prefersEventStream } from './serverResponder.ts';

/** Blocks in an order, and their runs. */
export function setRoutes(parts: SaveSetParts, runParts: SetRunRouteParts): Route[] {
  return [
    ...savedSetRoutes(parts),
    ...setRunRoutes(runParts),
    ...sharingRoutes({
      type: 'set',
      view: (caller, id) => getSavedSharing(parts, getSetCollection(parts), caller, id),
      share: (caller, id, request) => shareSaved(parts, getSetCollection(parts), caller, id, request),
    }),
  ];
}

/** Blocks that people saved in an order. */
function savedSetRoutes(parts: SaveSetParts): Route[] {
  const path = '/api/mcp/sets';
  const setPath = `${path}/:id`;
  return [
    {
      method: 'get',
      path,
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        res.json(await listSets(parts, caller, parseBody(req.query, SetsQuery)));
      },
    },
    {
      method: 'post',
      path,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const view = await createSet(parts, caller, readBody(req, SetRequest));
        res.set('ETag', toEtag(view.version)).location(`${path}/${encodeURIComponent(view.id)}`);
        res.status(201).json(view);
      },
    },
    {
      method: 'get',
      path: setPath,
      access: 'signed-in',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const view = await viewSet(parts, caller, id);
        res.set('ETag', toEtag(view.version)).json(view);
      },
    },
    {
      method: 'patch',
      path: setPath,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const change = { ...readBody(req, SetChange), ...readIfMatch(req) };
        const view = await changeSet(parts, caller, id, change);
        res.set('ETag', toEtag(view.version)).json(view);
      },
    },
    {
      method: 'delete',
      path: setPath,
      access: 'signed-in',
      scope: 'servers',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        await removeSet(parts, caller, id, readIfMatch(req));
        res.status(204).end();
      },
    },
  ];
}

interface SetRunRouteParts extends SendRunParts {
  readonly parts: RunSetParts;
  readonly setRuns: SetRuns;
}

/** Sets as jobs of whoever runs them. A run is theirs alone. */
function setRunRoutes(routeParts: SetRunRouteParts): Route[] {
  const { parts, setRuns } = routeParts;
  const setPath = '/api/mcp/sets/:id';
  const runPath = '/api/mcp/runs/:runId';
  return [
    {
      method: 'post',
      path: `${setPath}/check`,
      access: 'caller',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const input = readBody(req, SetCheckRequest);
        res.json(await checkSet(parts, createRunInbound(req, res, caller), id, input));
      },
    },
    {
      method: 'post',
      path: `${setPath}/run`,
      access: 'caller',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const request = { ...readBody(req, SetRunRequest), ...readIfMatch(req) };
        const inbound = createRunInbound(req, res, caller);
        await sendRun(routeParts, { req, res }, (listener) => setRuns.start(inbound, id, request, listener));
      },
    },
    {
      method: 'get',
      path: `${setPath}/runs`,
      access: 'caller',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        res.json(await setRuns.list(requireUser(caller), id, parseBody(req.query, SetsQuery)));
      },
    },
    {
      method: 'get',
      path: runPath,
      access: 'caller',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { runId } = req.params as { runId: string };
        res.json(await setRuns.view(requireUser(caller), runId));
      },
    },
    {
      method: 'post',
      path: `${runPath}/cancel`,
      access: 'caller',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { runId } = req.params as { runId: string };
        res.json(await setRuns.cancel(requireUser(caller), runId));
      },
    },
    {
      method: 'post',
      path: `${runPath}/resume`,
      access: 'caller',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { runId } = req.params as { runId: string };
        const request = readBody(req, RunResumeRequest);
        const inbound = createRunInbound(req, res, caller);
        await sendRun(routeParts, { req, res }, (listener) =>
          setRuns.resume(inbound, runId, request, listener),
        );
      },
    },
  ];
}

/** Runs belong to people: a program has nobody whose they could be. */
function requireUser(caller: Principal): UserPrincipal {
  if (caller.kind !== 'user') throw new GatewayError('FORBIDDEN');
  return caller;
}

/** Who asks for a run. It goes on when they leave; only what comes before it ends with them. */
function createRunInbound(req: Request, res: Response, caller: Principal): RunInbound {
  const inbound = createRestInbound({ caller, headers: req.headers, signal: createDisconnectSignal(res) });
  return { ...inbound, principal: requireUser(caller) };
}

interface SendRunParts {
  readonly clock: Clock;
  readonly headers: Readonly<Record<string, string>>;
  readonly problemOf: (error: unknown) => ProblemAnswer;
}

/** A run that begins: as JSON at once, or as events until it is over. Who leaves leaves it running. */
async function sendRun(
  { clock, headers, problemOf }: SendRunParts,
  { req, res }: { readonly req: Request; readonly res: Response },
  startRun: (listener?: RunListener) => Promise<StartedRun>,
): Promise<void> {
  if (!prefersEventStream(req.headers.accept)) {
    const { view } = await startRun();
    res
      .status(202)
      .location(`/api/mcp/runs/${encodeURIComponent(view.id)}`)
      .json(view);
    return;
  }
  // Steps may begin before the run is told of.
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
