"""More exercises and solutions, about single numbers and about searching in an array."""

from __future__ import annotations

SOLUTIONS = {
    "prime": """
def prime(x: int) -> bool:
    if x < 2:
        return False
    for i in range(2, x):
        if x % i == 0:
            return False
    return True
---
def prime(x: int) -> bool:
    divisors: int = 0
    for d in range(1, x + 1):
        if x % d == 0:
            divisors += 1
    return divisors == 2
---
def prime(x: int) -> bool:
    if x == 2 or x == 3:
        return True
    if x < 2 or x % 2 == 0:
        return False
    d: int = 3
    while d * d <= x:
        if x % d == 0:
            return False
        d += 2
    return True
---
def divides(x: int, from_: int) -> bool:
    if from_ * from_ > x:
        return False
    if x % from_ == 0:
        return True
    return divides(x, from_ + 1)
def prime(x: int) -> bool:
    return x > 1 and not divides(x, 2)
---
def prime(x: int) -> bool:
    crossed: list[int] = array(x + 2)
    p: int = 2
    while p <= x:
        if crossed[p] == 0:
            multiple: int = p + p
            while multiple <= x:
                crossed[multiple] = 1
                multiple += p
        p += 1
    return crossed[x] == 0
""",
    "divisor": """
def divisor(a: int, b: int) -> int:
    while b != 0:
        rest: int = a % b
        a = b
        b = rest
    return a
---
def divisor(a: int, b: int) -> int:
    if b == 0:
        return a
    return divisor(b, a % b)
---
def divisor(a: int, b: int) -> int:
    while a != b:
        if a > b:
            a -= b
        else:
            b -= a
    return a
---
def divisor(a: int, b: int) -> int:
    best: int = 1
    smaller: int = a
    if b < a:
        smaller = b
    for d in range(1, smaller + 1):
        if a % d == 0 and b % d == 0:
            best = d
    return best
""",
    "digits": """
def digits(x: int) -> int:
    total: int = 0
    while x > 0:
        total += x % 10
        x = x // 10
    return total
---
def digits(x: int) -> int:
    if x < 10:
        return x
    return x % 10 + digits(x // 10)
---
def digits(x: int) -> int:
    place: int = 1
    while place * 10 <= x:
        place = place * 10
    result: int = 0
    while place >= 1:
        digit: int = x // place
        result += digit
        x -= digit * place
        place = place // 10
    return result
---
def digits(x: int) -> int:
    parts: list[int] = array(12)
    used: int = 0
    while x != 0:
        parts[used] = x % 10
        used += 1
        x = (x - x % 10) // 10
    sum: int = 0
    for k in range(used):
        sum = sum + parts[k]
    return sum
""",
    "power": """
def power(x: int, n: int) -> int:
    result: int = 1
    for i in range(n):
        result = result * x
    return result
---
def power(x: int, n: int) -> int:
    if n == 0:
        return 1
    half: int = power(x, n // 2)
    if n % 2 == 0:
        return half * half
    return half * half * x
---
def power(x: int, n: int) -> int:
    answer: int = 1
    base: int = x
    while n > 0:
        if n % 2 == 1:
            answer = answer * base
        base = base * base
        n = n // 2
    return answer
---
def times(x: int, y: int) -> int:
    total: int = 0
    for k in range(y):
        total += x
    return total
def power(x: int, n: int) -> int:
    product: int = x
    while n > 1:
        product = times(product, x)
        n -= 1
    return product
""",
    "fibonacci": """
def fibonacci(n: int) -> int:
    a: int = 0
    b: int = 1
    for i in range(n):
        next: int = a + b
        a = b
        b = next
    return a
---
def fibonacci(n: int) -> int:
    if n <= 1:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)
---
def fibonacci(n: int) -> int:
    numbers: list[int] = array(n + 2)
    numbers[1] = 1
    i: int = 2
    while i <= n:
        numbers[i] = numbers[i - 1] + numbers[i - 2]
        i += 1
    return numbers[n]
---
def step(n: int, last: int, before: int) -> int:
    if n == 0:
        return before
    return step(n - 1, last + before, last)
def fibonacci(n: int) -> int:
    if n < 0:
        print("not negative, please")
        return 0
    return step(n, 1, 0)
""",
    "search": """
def search(a: list[int], n: int, x: int) -> int:
    for i in range(n):
        if a[i] == x:
            return i
    return -1
---
def search(a: list[int], n: int, x: int) -> int:
    low: int = 0
    high: int = n - 1
    while low <= high:
        middle: int = (low + high) // 2
        if a[middle] == x:
            return middle
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle - 1
    return -1
---
def search(a: list[int], n: int, x: int) -> int:
    found: bool = False
    where: int = -1
    i: int = 0
    while i < n and not found:
        if a[i] == x:
            found = True
            where = i
        i += 1
    return where
---
def between(a: list[int], first: int, last: int, x: int) -> int:
    if first > last:
        return -1
    half: int = first + (last - first) // 2
    if x < a[half]:
        return between(a, first, half - 1, x)
    if x > a[half]:
        return between(a, half + 1, last, x)
    return half
def search(a: list[int], n: int, x: int) -> int:
    return between(a, 0, n - 1, x)
""",
    "different": """
def different(a: list[int], n: int) -> int:
    count: int = 0
    for i in range(n):
        new: bool = True
        for j in range(i):
            if a[i] == a[j]:
                new = False
        if new:
            count += 1
    return count
---
def different(a: list[int], n: int) -> int:
    seen: list[int] = array(1001)
    result: int = 0
    for i in range(n):
        if seen[a[i]] == 0:
            result += 1
        seen[a[i]] += 1
    return result
---
def later(a: list[int], n: int, i: int) -> bool:
    k: int = i + 1
    while k < n:
        if a[k] == a[i]:
            return True
        k += 1
    return False
def different(a: list[int], n: int) -> int:
    repeated: int = 0
    for i in range(n):
        if later(a, n, i):
            repeated += 1
    return n - repeated
---
def different(a: list[int], n: int) -> int:
    kept: list[int] = array(n)
    size: int = 0
    for i in range(n):
        k: int = 0
        while k < size and kept[k] != a[i]:
            k += 1
        if k == size:
            kept[size] = a[i]
            size += 1
    return size
""",
}
