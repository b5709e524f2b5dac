import { createFakeClock } from '@behalf/testkit';
import { createArgumentValidator } from '../src/toolcall/arguments.ts';
import type { JsonObject } from '../src/upstream/upstream.ts';

export const forecastTool = { serverId: 'weather', toolName: 'forecast' };

/** A validator, and what it told the log. */
export function createArgumentRig(maxCompiled?: number) {
  const logged: [string, Readonly<Record<string, string>>][] = [];
  const checker = createArgumentValidator({
    clock: createFakeClock(),
    log: (event, fields) => void logged.push([event, fields]),
    ...(maxCompiled !== undefined && { maxCompiled }),
  });
  const check = (schema: JsonObject, args: unknown) => checker.validate(forecastTool, schema, args);
  return { checker, check, logged, reasons: () => logged.map(([, { reason }]) => reason) };
}
