export interface ScrollFacts {
  readonly top: number;
  /** All there is, and what of it is seen at once. */
  readonly height: number;
  readonly view: number;
}

/** So near to the end that it counts as there: browsers scroll by fractions of pixels. */
const NEAR = 8;

/**
 * Whether the reader follows the end, after the page was scrolled: who scrolled up, by however little, wants to read
 * there; who came back down follows again.
 */
export function followsEnd(isFollowing: boolean, before: number, now: ScrollFacts): boolean {
  const left = now.height - now.view - now.top;
  if (left <= NEAR) return true;
  return isFollowing && now.top >= before;
}
