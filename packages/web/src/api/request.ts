import type { Diagnostic, Problem } from '@behalf/contracts';
import type { ErrorCode } from '@behalf/contracts/plain';

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request to the gateway. The session is a cookie. The CSRF header proves that a script of
 * this origin sends the request.
 */
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

/** Sends a request and parses the JSON response. */
export async function requestJson<T>(path: string, options?: RequestOptions): Promise<T> {
  const response = await sendRequest(path, options);
  if (response.status === 204) return undefined as T;
  try {
    return (await response.json()) as T;
  } catch {
    throw new ApiError({ code: 'UNREADABLE', status: response.status, title: '', detail: '' });
  }
}

export const encodeSegment = encodeURIComponent;

/** OFFLINE: no response. UNREADABLE: the response is not the expected JSON. */
type ClientErrorCode = 'OFFLINE' | 'UNREADABLE';

/** Failed request with a text for the user. */
export class ApiError extends Error {
  readonly code: ErrorCode | ClientErrorCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** Errors by field. */
  readonly errors: readonly Diagnostic[];
  readonly problem: Problem | undefined;
  /** Delay from the Retry-After header in milliseconds, if present. */
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
      // A proxy in between can answer with its own HTML page.
    }
    return new ApiError({ code: 'UNREADABLE', status, title: '', detail: '', ...retry });
  }
}
