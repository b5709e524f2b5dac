import type { ServerResponse } from 'node:http';
import type { ScriptStep } from './scriptedModel.ts';

/** Writes the steps of a script as a streamed chat completion. */
export async function streamSteps(
  res: ServerResponse,
  model: string,
  steps: Iterable<ScriptStep> | AsyncIterable<ScriptStep>,
): Promise<void> {
  let finishReason = 'stop';
  const writeChunk = (delta: object, reason: string | null = null) => {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    writeEvent(
      res,
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model, choices })}\n\n`,
    );
  };
  for await (const step of steps) {
    if (res.destroyed) return;
    if (typeof step === 'string') writeChunk({ content: step });
    else if ('calls' in step) {
      for (const piece of toDeltas(step.calls)) writeChunk(piece);
      finishReason = 'tool_calls';
    } else if ('until' in step) {
      startStream(res);
      await step.until;
    } else if ('status' in step) {
      const { status, body = { error: { message: `scripted ${status}` } }, headers = {} } = step;
      res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
      return;
    } else if ('raw' in step) writeEvent(res, step.raw);
    else if ('cut' in step) {
      res.destroy();
      return;
    } else finishReason = step.finish;
  }
  writeChunk({}, finishReason);
  writeEvent(res, 'data: [DONE]\n\n');
  res.end();
}

function startStream(res: ServerResponse): void {
  if (res.headersSent) return;
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.flushHeaders();
}

function writeEvent(res: ServerResponse, text: string): void {
  startStream(res);
  res.write(text);
}

/** As models send them: the name first, the arguments in pieces. */
function toDeltas(calls: readonly { readonly name: string; readonly args?: unknown }[]): object[] {
  return calls.flatMap(({ name, args = {} }, index) => {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const middle = Math.ceil(text.length / 2);
    const toDelta = (fields: object) => ({ tool_calls: [{ index, ...fields }] });
    return [
      toDelta({ id: `call_${index}`, type: 'function', function: { name, arguments: '' } }),
      toDelta({ function: { arguments: text.slice(0, middle) } }),
      toDelta({ function: { arguments: text.slice(middle) } }),
    ];
  });
}
