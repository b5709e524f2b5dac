import type { Diagnostic, Problem } from '@behalf/contracts';
import type { ErrorCode } from '@behalf/contracts/plain';

/** What the browser itself knows: nothing came back. */
export type LocalCode = 'OFFLINE' | 'UNREADABLE';

/** A request that did not succeed, in words that can be shown. */
export class ApiError extends Error {
  readonly code: ErrorCode | LocalCode;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** What is wrong, field by field. */
  readonly errors: readonly Diagnostic[];
  readonly problem: Problem | undefined;
  /** When it is worth asking again, where the server said so. */
  readonly retryAfterMs: number | undefined;

  constructor(facts: {
    code: ErrorCode | LocalCode;
    status: number;
    title: string;
    detail: string;
    problem?: Problem;
    retryAfterMs?: number;
  }) {
    super(`${facts.code}: ${facts.title}`);
    this.name = 'ApiError';
    this.code = facts.code;
    this.status = facts.status;
    this.title = facts.title;
    this.detail = facts.detail;
    this.errors = facts.problem?.errors ?? [];
    this.problem = facts.problem;
    this.retryAfterMs = facts.retryAfterMs;
  }

  static async of(response: Response): Promise<ApiError> {
    const { status } = response;
    const retryAfter = Number(response.headers.get('retry-after'));
    const wait = retryAfter > 0 ? { retryAfterMs: retryAfter * 1000 } : {};
    try {
      const problem = (await response.json()) as Problem | null;
      if (problem?.code) {
        const { code, title, detail } = problem;
        return new ApiError({ code, status, title, detail, problem, ...wait });
      }
    } catch {
      // A proxy on the way answers with pages of its own.
    }
    return new ApiError({ code: 'UNREADABLE', status, title: '', detail: '', ...wait });
  }
}
