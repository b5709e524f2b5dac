import { RunResumeRequest, SetCheckRequest, SetRunRequest, SetsQuery } from '@behalf/contracts';
import { checkSet, type RunSetParts, type SetRuns } from '@behalf/gateway';
import type { Route } from '../../../http/routes.ts';
import { parseBody, readBody } from '../../../middleware/body.ts';
import { readIfMatch } from '../servers/ifMatch.ts';
import { createRunInbound, requireUser } from './runInbound.ts';
import { sendRun, type SendRunParts } from './sendRun.ts';

export interface SetRunRouteParts extends SendRunParts {
  readonly parts: RunSetParts;
  readonly setRuns: SetRuns;
}

/** Sets as jobs of whoever runs them. A run is theirs alone. */
export function setRunRoutes(routeParts: SetRunRouteParts): Route[] {
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
