import type { ServerResponse } from 'node:http';
import type { ScriptStep } from './scriptedModel.ts';

/** Writes the steps of a script as a streamed chat completion. */
export async function speak(
  res: ServerResponse,
  model: string,
  steps: Iterable<ScriptStep> | AsyncIterable<ScriptStep>,
): Promise<void> {
  let finish = 'stop';
  const chunk = (delta: object, reason: string | null = null) => {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    write(res, `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model, choices })}\n\n`);
  };
  for await (const step of steps) {
    if (res.destroyed) return;
    if (typeof step === 'string') chunk({ content: step });
    else if ('calls' in step) {
      for (const piece of piecesOf(step.calls)) chunk(piece);
      finish = 'tool_calls';
    } else if ('until' in step) {
      begin(res);
      await step.until;
    } else if ('status' in step) {
      const { status, body = { error: { message: `scripted ${status}` } }, headers = {} } = step;
      res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
      return;
    } else if ('raw' in step) write(res, step.raw);
    else if ('cut' in step) {
      res.destroy();
      return;
    } else finish = step.finish;
  }
  chunk({}, finish);
  write(res, 'data: [DONE]\n\n');
  res.end();
}

function begin(res: ServerResponse): void {
  if (res.headersSent) return;
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.flushHeaders();
}

function write(res: ServerResponse, text: string): void {
  begin(res);
  res.write(text);
}

/** As models send them: the name first, the arguments in pieces. */
function piecesOf(calls: readonly { readonly name: string; readonly args?: unknown }[]): object[] {
  return calls.flatMap(({ name, args = {} }, index) => {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const half = Math.ceil(text.length / 2);
    const piece = (said: object) => ({ tool_calls: [{ index, ...said }] });
    return [
      piece({ id: `call_${index}`, type: 'function', function: { name, arguments: '' } }),
      piece({ function: { arguments: text.slice(0, half) } }),
      piece({ function: { arguments: text.slice(half) } }),
    ];
  });
}
