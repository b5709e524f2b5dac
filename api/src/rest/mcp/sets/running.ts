import { RunResumeRequest, SetCheckRequest, SetRunRequest, SetsQuery } from '@behalf/contracts';
import { checkSet, type RunSetParts, type SetRuns } from '@behalf/gateway';
import type { Route } from '../../../http.ts';
import { parseBody, readBody } from '../../../middleware/body.ts';
import { conditionOf } from '../servers/condition.ts';
import { askingOf, userOf } from './askingOf.ts';
import { showRun, type ShowRunParts } from './showRun.ts';

export interface RunningParts extends ShowRunParts {
  readonly parts: RunSetParts;
  readonly setRuns: SetRuns;
}

/** Sets as jobs of whoever runs them. A run is theirs alone. */
export function runningSetRoutes(running: RunningParts): Route[] {
  const { parts, setRuns } = running;
  const set = '/api/mcp/sets/:id';
  const run = '/api/mcp/runs/:runId';
  return [
    {
      method: 'post',
      path: `${set}/check`,
      access: 'caller',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const brought = readBody(req, SetCheckRequest);
        res.json(await checkSet(parts, askingOf(req, res, caller), id, brought));
      },
    },
    {
      method: 'post',
      path: `${set}/run`,
      access: 'caller',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        const request = { ...readBody(req, SetRunRequest), ...conditionOf(req) };
        const asking = askingOf(req, res, caller);
        await showRun(running, { req, res }, (listener) => setRuns.start(asking, id, request, listener));
      },
    },
    {
      method: 'get',
      path: `${set}/runs`,
      access: 'caller',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { id } = req.params as { id: string };
        res.json(await setRuns.list(userOf(caller), id, parseBody(req.query, SetsQuery)));
      },
    },
    {
      method: 'get',
      path: run,
      access: 'caller',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { runId } = req.params as { runId: string };
        res.json(await setRuns.view(userOf(caller), runId));
      },
    },
    {
      method: 'post',
      path: `${run}/cancel`,
      access: 'caller',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { runId } = req.params as { runId: string };
        res.json(await setRuns.cancel(userOf(caller), runId));
      },
    },
    {
      method: 'post',
      path: `${run}/resume`,
      access: 'caller',
      scope: 'mcp',
      async handle(req, res, caller) {
        const { runId } = req.params as { runId: string };
        const request = readBody(req, RunResumeRequest);
        const asking = askingOf(req, res, caller);
        await showRun(running, { req, res }, (listener) => setRuns.resume(asking, runId, request, listener));
      },
    },
  ];
}
