import type { Diagnostic, Problem } from '@behalf/contracts';
import type { ErrorCode } from '@behalf/contracts/plain';

/** What the browser itself knows: nothing came back. */
export type ClientErrorCode = 'OFFLINE' | 'UNREADABLE';

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
