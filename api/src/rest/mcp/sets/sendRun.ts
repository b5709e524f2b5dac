import type { StartedRun, RunListener } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import type { Request, Response } from 'express';
import { createEventStream } from '../../../http/eventStream.ts';
import type { ProblemResponse as ProblemAnswer } from '../../../middleware/problem.ts';
import { prefersEventStream } from '../serverResponder.ts';

export interface SendRunParts {
  readonly clock: Clock;
  readonly headers: Readonly<Record<string, string>>;
  readonly problemOf: (error: unknown) => ProblemAnswer;
}

/** A run that begins: as JSON at once, or as events until it is over. Who leaves leaves it running. */
export async function sendRun(
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
