import { ApiError } from './apiError.ts';

export interface RequestOptions {
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
