import type { JsonObject } from '@behalf/gateway';

const MAX_MESSAGE_LENGTH = 500;

/** What a server says of its progress, as far as a person is shown it. */
export function toProgress(params: JsonObject): { progress?: number; total?: number; message?: string } {
  const { progress, total, message } = params;
  return {
    ...(typeof progress === 'number' && { progress }),
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message: message.slice(0, MAX_MESSAGE_LENGTH) }),
  };
}
