import type { StartedRun, RunListener } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import type { Request, Response } from 'express';
import { createEventStream } from '../../../door/eventStream.ts';
import type { Answer as ProblemAnswer } from '../../../middleware/problem.ts';
import { wantsEvents } from '../answering.ts';

export interface ShowRunParts {
  readonly clock: Clock;
  readonly headers: Readonly<Record<string, string>>;
  readonly problemOf: (error: unknown) => ProblemAnswer;
}

/** A run that begins: as JSON at once, or as events until it is over. Who leaves leaves it running. */
export async function showRun(
  { clock, headers, problemOf }: ShowRunParts,
  { req, res }: { readonly req: Request; readonly res: Response },
  begin: (listener?: RunListener) => Promise<StartedRun>,
): Promise<void> {
  if (!wantsEvents(req.headers.accept)) {
    const { view } = await begin();
    res
      .status(202)
      .location(`/api/mcp/runs/${encodeURIComponent(view.id)}`)
      .json(view);
    return;
  }
  // Steps may begin before the run is told of.
  const early: (() => void)[] = [];
  const events = createEventStream(res, { clock, headers });
  const tell = (event: string, data: unknown) => void events.send(event, data);
  let say = (work: () => void): void => void early.push(work);
  try {
    const { view, completion: ended } = await begin({
      step: (step) => say(() => tell('step', step)),
      progress: (progress) => say(() => events.hint('progress', progress)),
    });
    tell('run', view);
    for (const work of early) work();
    say = (work) => work();
    events.end('result', JSON.stringify(await ended));
  } catch (error) {
    events.close();
    if (!events.begun) throw error;
    events.end('error', JSON.stringify(problemOf(error).problem));
  }
}
