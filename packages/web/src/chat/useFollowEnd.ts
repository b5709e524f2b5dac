import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

interface FollowEnd {
  readonly scrollerRef: RefObject<HTMLDivElement | null>;
  readonly contentRef: RefObject<HTMLDivElement | null>;
  readonly isFollowing: boolean;
  readonly scrollToEnd: () => void;
}

/** Events of user scrolling. Browsers scroll in small steps, so auto-scroll pauses for HOLD_MS. */
const SCROLL_EVENTS = ['wheel', 'touchmove', 'keydown'];
const HOLD_MS = 300;

/** Keeps the end of growing content visible unless the user scrolled up. If inactive, starts at the top. */
export function useFollowEnd(isActive: boolean): FollowEnd {
  const scrollerRef = useRef<HTMLDivElement>(null);
  const contentRef = useRef<HTMLDivElement>(null);
  const followingRef = useRef(true);
  const [isFollowing, setFollowing] = useState(true);

  useEffect(() => {
    const scrollerElement = scrollerRef.current;
    const contentElement = contentRef.current;
    if (!isActive || !scrollerElement || !contentElement) return undefined;
    let previousTop = 0;
    let holdTimer: ReturnType<typeof setTimeout> | undefined;
    const jumpToEnd = () => {
      if (!followingRef.current || holdTimer !== undefined) return;
      scrollerElement.scrollTop = scrollerElement.scrollHeight;
      previousTop = scrollerElement.scrollTop;
    };
    const hold = () => {
      clearTimeout(holdTimer);
      holdTimer = setTimeout(() => {
        holdTimer = undefined;
        // Content may have grown during the pause.
        jumpToEnd();
      }, HOLD_MS);
    };
    const handleScroll = () => {
      const { scrollTop: top, scrollHeight: height, clientHeight: viewport } = scrollerElement;
      followingRef.current = shouldFollowEnd(followingRef.current, previousTop, { top, height, viewport });
      previousTop = top;
      setFollowing(followingRef.current);
    };
    // Also called once initially. The scroller can shrink when the area below it grows.
    const observer = new ResizeObserver(jumpToEnd);
    observer.observe(contentElement);
    observer.observe(scrollerElement);
    scrollerElement.addEventListener('scroll', handleScroll, { passive: true });
    for (const event of SCROLL_EVENTS) scrollerElement.addEventListener(event, hold, { passive: true });
    return () => {
      clearTimeout(holdTimer);
      observer.disconnect();
      scrollerElement.removeEventListener('scroll', handleScroll);
      for (const event of SCROLL_EVENTS) scrollerElement.removeEventListener(event, hold);
    };
  }, [isActive]);

  const scrollToEnd = useCallback(() => {
    followingRef.current = true;
    setFollowing(true);
    const scrollerElement = scrollerRef.current;
    if (scrollerElement) scrollerElement.scrollTop = scrollerElement.scrollHeight;
  }, []);

  return { scrollerRef, contentRef, isFollowing, scrollToEnd };
}

interface ScrollPosition {
  readonly top: number;
  /** Height of the content and of the visible part, in pixels. */
  readonly height: number;
  readonly viewport: number;
}

/** Distance that counts as the end. Browsers scroll by fractions of pixels. */
const NEAR_END_PX = 8;

/** Decides after a scroll whether to follow the end. Scrolling up stops it, reaching the end resumes it. */
export function shouldFollowEnd(
  isFollowing: boolean,
  previousTop: number,
  position: ScrollPosition,
): boolean {
  const distanceToEnd = position.height - position.viewport - position.top;
  if (distanceToEnd <= NEAR_END_PX) return true;
  return isFollowing && position.top >= previousTop;
}
