import { abortReason, createSingleFlight, toAbortSignal } from '@behalf/kernel';
import type { ExchangeJob } from './exchanger.ts';

/** One exchange under way, as those know it who must make it forget. */
export interface Course {
  readonly key: string;
  readonly holder: ExchangeJob['holder'];
  /** Its holder was evicted since it began: it serves who waits already, and is neither kept nor joined. */
  isStale: boolean;
  /** What servers refused since it began. */
  readonly refused: Set<string>;
}

export type CourseMode = 'kept' | 'forced';

export interface Courses<T> {
  /** Joins what is under way in this mode, or begins. Leaving never stops it. */
  join(mode: CourseMode, job: ExchangeJob, work: (course: Course) => Promise<T>): Promise<T>;
  all(): Iterable<Course>;
  idle(): Promise<void>;
}

export function createCourses<T>(): Courses<T> {
  const flights = createSingleFlight<T>();
  /** The one that may be joined, by mode and key. */
  const open = new Map<string, Course & { readonly number: number }>();
  /** Also those that nobody may join any more. */
  const under = new Set<Course>();
  let number = 0;

  return {
    join(mode, { key, holder, signal }, work) {
      if (signal.aborted) return Promise.reject(abortReason(signal));
      const name = JSON.stringify([mode, key]);
      let course = open.get(name);
      if (!course || course.isStale) {
        course = { key, holder, isStale: false, refused: new Set(), number: (number += 1) };
        open.set(name, course);
        under.add(course);
      }
      const own = course;
      const fly = async () => {
        try {
          return await work(own);
        } finally {
          under.delete(own);
          // A stale one was replaced: it must not take its successor away.
          if (open.get(name) === own) open.delete(name);
        }
      };
      // The number keeps who comes after an eviction out of a flight that began before it.
      return flights.run([own.number], fly, { signal: toAbortSignal(signal), detached: true });
    },
    all: () => under,
    idle: () => flights.idle(),
  };
}
