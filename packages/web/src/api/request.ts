import type { Diagnostic, Problem } from '@behalf/contracts';
import type { ErrorCode } from '@behalf/contracts/plain';

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** One request to the gateway. The session travels as a cookie; the header says that a script of ours asks. */
export async function sendRequest(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', body, headers, signal } = options;
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      headers: {
        Accept: 'application/json',
        'X-Behalf-CSRF': '1',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError({ code: 'OFFLINE', status: 0, title: '', detail: '' });
  }
  if (!response.ok) throw await ApiError.of(response);
  return response;
}

/** The same where an answer in JSON is expected. */
export async function requestJson<T>(path: string, options?: RequestOptions): Promise<T> {
  const response = await sendRequest(path, options);
  if (response.status === 204) return undefined as T;
  try {
    return (await response.json()) as T;
  } catch {
    throw new ApiError({ code: 'UNREADABLE', status: response.status, title: '', detail: '' });
  }
}

/** A name inside a path. */
export const encodeSegment = encodeURIComponent;

/** What the browser itself knows: nothing came back. */
type ClientErrorCode = 'OFFLINE' | 'UNREADABLE';

/** A request that did not succeed, in words that can be shown. */
export class ApiError extends Error {
  readonly code: ErrorCode | ClientErrorCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** What is wrong, field by field. */
  readonly errors: readonly Diagnostic[];
  readonly problem: Problem | undefined;
  /** When it is worth asking again, where the server said so. */
  readonly retryAfterMs: number | undefined;

  constructor(fields: {
    code: ErrorCode | ClientErrorCode;
    status: number;
    title: string;
    detail: string;
    problem?: Problem;
    retryAfterMs?: number;
  }) {
    super(`${fields.code}: ${fields.title}`);
    this.name = 'ApiError';
    this.code = fields.code;
    this.status = fields.status;
    this.title = fields.title;
    this.detail = fields.detail;
    this.errors = fields.problem?.errors ?? [];
    this.problem = fields.problem;
    this.retryAfterMs = fields.retryAfterMs;
  }

  static async of(response: Response): Promise<ApiError> {
    const { status } = response;
    const retryAfter = Number(response.headers.get('retry-after'));
    const retry = retryAfter > 0 ? { retryAfterMs: retryAfter * 1000 } : {};
    try {
      const problem = (await response.json()) as Problem | null;
      if (problem?.code) {
        const { code, title, detail } = problem;
        return new ApiError({ code, status, title, detail, problem, ...retry });
      }
    } catch {
      // A proxy on the way answers with pages of its own.
    }
    return new ApiError({ code: 'UNREADABLE', status, title: '', detail: '', ...retry });
  }
}
