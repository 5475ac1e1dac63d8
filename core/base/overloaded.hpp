#pragma once

namespace mortise::core {

// std::visit(Overloaded{[](const A&) {...}, [](const B&) {...}}, variant)
template <class... Visitors>
struct Overloaded : Visitors... {
    using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace mortise::core
